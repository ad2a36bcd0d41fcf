"""What a server and a generator are to be, as data: they may be made on another host."""

from dataclasses import dataclass

from stackcost.contracts.endpoint import ClientGateway
from stackcost.contracts.server import ServerSettings
from stackcost.contracts.wiring import TO_SERVER, Wiring


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPlan:
    """Settings of a server and of the bed that it stands on.

    `settings`: of the server. `stack`: name of the network stack that its programs run on.
    `load_cpus`: cores of the load and the harness; `server_cpus`: those of the server; `may_share`:
    they may be the same. `address`, `port`: what clients connect to. `client_network`: where the
    clients are. `initial_window`: of TCP on the route to them, in segments. `wanted_hugepages`:
    pages of 2 MB. `timeout_factor`: factor for all time limits. `interfaces`: of the server's host,
    which the bed uses in place of veth pairs; the load is then on another host, and `load_cpus` is
    not used. `neighbours`: MAC addresses of the load's interfaces there. `gateways`: the generators
    after the first one. `collectors`: files of the user's own, on this machine. `host`: the name of
    the server's host in the experiment, if it is another one. `sample_stacks`: whether the stacks
    of the server's cores are sampled.
    """

    settings: ServerSettings
    stack: str
    load_cpus: tuple[int, ...]
    server_cpus: tuple[int, ...]
    may_share: bool
    address: str
    port: int
    client_network: str
    initial_window: int
    wanted_hugepages: int
    timeout_factor: float
    interfaces: tuple[str, ...] = ()
    neighbours: tuple[str, ...] = ()
    gateways: tuple[ClientGateway, ...] = ()
    collectors: tuple[str, ...] = ()
    host: str = ""
    sample_stacks: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorPlan:
    """One generator and the bed that it stands on.

    `name`: of the generator, for messages and files. `number`: among several, from 0 on; the first
    one is also the servers behind a device. `part`: of the load, 0 to 1; `clients`: its own.
    `wiring`: of the whole bed. `cpus`: cores of its host. `timeout_factor`: factor for all time
    limits. `interfaces`: of its host, in place of veth pairs; empty: the bed of one machine.
    `host`: its name in the experiment; empty: this machine.
    """

    name: str
    number: int
    cpus: tuple[int, ...]
    timeout_factor: float
    part: float = 1.0
    clients: str = ""
    wiring: Wiring = TO_SERVER
    interfaces: tuple[str, ...] = ()
    host: str = ""

    @property
    def words(self) -> str:
        """Its name for people."""
        return f"{self.name} on {self.host}" if self.host else self.name
