"""A generator on this machine, started by this process."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from stackcost.bed.local import HalfBed, LocalTestbed
from stackcost.contracts.counts import GeneratorShare
from stackcost.contracts.profile_file import ProfileFile
from stackcost.contracts.wiring import load_end
from stackcost.host.namespace import spawner
from stackcost.host.timeouts import timeout_factor
from stackcost.remote.stub import called
from stackcost.servers.probe import ask_as_load
from stackcost.sides.plans import GeneratorPlan
from stackcost.trex.astf_client import ONLY
from stackcost.trex.astf_server import AstfServer
from stackcost.trex.client import TrexClient
from stackcost.trex.trex_config import TrexConfig

START_LIMIT_S = 180.0
RPC_PORT, ASYNC_PORT = 4501, 4500  # TRex's own; each further generator of a bed has the next two


class RunningGenerator:
    """A generator of ASTF profiles on its bed. `begin` starts it; what is below needs that.

    Words, counters and identifiers of profiles are those of the TRex ASTF API. Arguments and
    results of public methods are plain data, so a generator may be on another host
    (`stackcost.hosts`), and several may be one (`GeneratorGroup`). The stubs there are
    made of this class.

    `own_bed`: the bed is not the server's, so it is described here. `host`: the description of its
    machine by the name that the controller has for it; empty on the controller's machine.
    `namespace`: the generator's; its client moves there.
    """

    def __init__(
        self,
        bed: LocalTestbed,
        client: TrexClient,
        generator: AstfServer,
        own_bed: bool,
        host: Mapping[str, Any] | None = None,
        namespace: str = "",
    ):
        self._bed = bed
        self._namespace = namespace
        self._client = client
        self._client.blame(generator.blamed)
        self._generator = generator
        self._own_bed = own_bed
        self._host = dict(host or {})

    def neighbours(self) -> list[str]:
        """MAC addresses of its interfaces, the clients' first; a device of DPDK is left out."""
        return self._bed.addresses()

    def ask_server(
        self, name: str, address: str, port: int, request: bytes, tls: bool = False
    ) -> int:
        """Bytes of the response to a request from a kernel's stack, before `begin`.

        `name`: of the server, for messages. StackcostError if the status is not 200.
        """
        return ask_as_load(name, address, port, request, tls).length

    @called(limit_s=START_LIMIT_S, in_turn=True)
    def begin(self) -> None:
        """Start the generator, connect to it, and take its ports.

        Its client's process was started before the bed was made, as it needs as long.
        """
        self._generator.start()
        self._client.connect(self._namespace, self._generator.config.cpus)
        self._client.reset()

    def check(self) -> None:
        """StackcostError that names the generator, or its client, that has ended or is stopped.

        The generator first: its end is the reason for the client's.
        """
        self._generator.check()
        self._client.check()

    @called(in_turn=True)
    def steer(self) -> None:
        """Put the receive work of its interfaces on its cores again, after a port was attached.

        It is the whole bed's, whose frames for clients are the generator's from here on.
        """
        self._bed.leave_clients_to_generator()
        self._bed.steer()

    def load_profile(
        self,
        path: ProfileFile,
        tunables: Mapping[str, Any],
        profile: str = ONLY,
        tls: Mapping[str, Any] | None = None,
    ) -> None:
        """Load a profile file with these arguments. `profile`: its identifier.

        `tls`: as of `AstfClient`.
        """
        self._client.load_profile(path, dict(tunables), profile, tls)

    def set_network(self, settings: Mapping[str, float]) -> None:
        """Imitate a network at the clients' port, each way, from now on.

        `settings`: of the RPC stackcost_set_impairment. StackcostError if the generator lacks it,
        or does not tell afterwards that it does as it was asked.
        """
        self._client.set_network(settings)

    def network_counts(self) -> dict[str, int]:
        """What that network did to frames of both ways, since the generator began."""
        return self._client.network_counts()

    def start(self, mult: float, duration: float = -1, profile: str = ONLY) -> None:
        """Start a loaded profile; returns once it transmits.

        `mult` multiplies its connections per second. `duration`: seconds; negative: until stopped.
        Flows that are open at the end finish.
        """
        self._client.start(mult=mult, duration=duration, profile=profile)

    def update(self, mult: float) -> None:
        """Change the multiplier of running traffic."""
        self._client.update(mult)

    def is_traffic_active(self) -> bool:
        """Whether it transmits or still cleans up."""
        return self._client.is_traffic_active()

    def stop(self) -> None:
        """Abort all flows, and return when no generator has one."""
        self._client.stop()

    def stats(self) -> dict[str, Any]:
        """Counters under TRex's names: "traffic" by side ("client", "server"), "0" and "1" by port.

        Counters of zero are included.
        """
        return self._client.stats()

    def group_stats(self, profile: str = ONLY) -> dict[str, Any]:
        """Counters of each template group of a profile, by side."""
        return self._client.group_stats(profile)

    @called(once=True)
    def supports(self, method: str) -> bool:
        """Whether this RPC method can be called; TRex lacks those of astf-engine."""
        return self._client.supports(method)

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """The result of an RPC method that reads something."""
        return self._client.call(method, params)

    def data_cpus(self) -> list[int]:
        """CPUs that only data threads use; empty if a data thread shares its CPU with control."""
        return list(self._generator.config.data_cpus)

    def shares(self) -> list[GeneratorShare]:
        """What each of several generators did in this trial; empty for a single one."""
        return []

    def describe(self) -> dict[str, Any]:
        """`generator`, and `test_bed` if it is not the server's, for the manifest."""
        described = {"generator": self._generator.describe()}
        if self._own_bed:
            hosts = {"hosts": self._host} if self._host else {}
            described["test_bed"] = self._bed.describe() | hosts
        return described


def client_of(number: int) -> TrexClient:
    """The client of a bed's generator with this number, in no namespace yet; to be closed.

    It takes a second until it is ready, so it is started before the bed is made.
    """
    return TrexClient(rpc_port=RPC_PORT + 2 * number, async_port=ASYNC_PORT + 2 * number)


@contextmanager
def generator_on(
    client: TrexClient,
    bed: LocalTestbed,
    plan: GeneratorPlan,
    folder: Path,
    own_bed: bool = False,
    host: Mapping[str, Any] | None = None,
) -> Iterator[RunningGenerator]:
    """A generator on a bed that is there, not begun yet; it is stopped on exit, as is its `client`.

    `folder` takes its configuration and log. `own_bed`, `host`: see `RunningGenerator`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    own_end = load_end(0 if plan.interfaces else plan.number)
    devices = {end.interface: name for end, name in _part_of(plan).devices(plan.wiring).items()}
    config = TrexConfig(
        plan.name,
        [
            replace(port, interface=devices.get(port.interface, port.interface))
            for port in plan.wiring.ports_of(plan.number, own_end.interface)
        ],
        plan.cpus,
        RPC_PORT + 2 * plan.number,
        ASYNC_PORT + 2 * plan.number,
    )
    generator = AstfServer(config, folder, spawner(own_end.namespace, plan.cpus))
    try:
        yield RunningGenerator(bed, client, generator, own_bed, host, own_end.namespace)
    finally:
        client.close()  # before the generator ends
        generator.stop()


@contextmanager
def local_generator(
    plan: GeneratorPlan,
    folder: Path,
    say: Callable[[str], None],
    host: Mapping[str, Any] | None = None,
) -> Iterator[RunningGenerator]:
    """A generator on a bed of its own, whose other side is on another host; undone on exit.

    `say`: shows what is being done. `host`: see `RunningGenerator`.
    """
    say("test bed")
    with (
        timeout_factor(plan.timeout_factor),
        client_of(plan.number) as client,
        LocalTestbed(plan.cpus, server_cpus=(), wiring=plan.wiring, part=_part_of(plan)) as bed,
        generator_on(client, bed, plan, folder, own_bed=True, host=host) as side,
    ):
        yield side


def _part_of(plan: GeneratorPlan) -> HalfBed:
    return HalfBed("load", plan.interfaces, number=plan.number)
