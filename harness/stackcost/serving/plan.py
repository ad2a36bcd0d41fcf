"""What a server is to be, as data: it may be made in another process or on another host."""

from dataclasses import dataclass

from stackcost.contracts.endpoint import ClientGateway
from stackcost.contracts.server import ServerSettings


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
