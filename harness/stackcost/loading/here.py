"""A generator of this process, on a bed of this machine."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from stackcost.bed.local import LocalTestbed, Part
from stackcost.contracts.counts import GeneratorShare
from stackcost.contracts.wiring import load_end
from stackcost.host.namespace import spawner
from stackcost.host.patience import patience
from stackcost.loading.plan import LoadingPlan
from stackcost.loading.side import LoadingSide
from stackcost.servers.probe import ask_as_load
from stackcost.trex.astf_client import ONLY
from stackcost.trex.client import TrexClient
from stackcost.trex.generator import Generator
from stackcost.trex.trex_config import TrexConfig

RPC_PORT, ASYNC_PORT = 4501, 4500  # TRex's own; each further generator of a bed has the next two


class LoadingHere(LoadingSide):
    """A generator on `bed`. `own_bed`: the bed is not the server's, so it is described here."""

    def __init__(self, bed: LocalTestbed, client: TrexClient, generator: Generator, own_bed: bool):
        self._bed = bed
        self._client = client
        self._generator = generator
        self._own_bed = own_bed

    def neighbours(self) -> list[str]:
        """From /sys/class/net of the load's namespace; a device of DPDK is left out."""
        return self._bed.addresses()

    def ask_server(self, name: str, address: str, port: int, request: bytes) -> int:
        """From the load's namespace."""
        return ask_as_load(name, address, port, request).length

    def begin(self) -> None:
        """Its client's process was started before: it needs as long as the generator."""
        self._generator.start()
        with self._generator.blamed():
            self._client.connect()
            self._client.reset()

    def check(self) -> None:
        """The generator first: its end is the reason for the client's."""
        self._generator.check()
        self._client.check()

    def steer(self) -> None:
        """Of the whole bed, whose frames for clients are the generator's from here on."""
        self._bed.leave_clients_to_generator()
        self._bed.steer()

    def load_profile(self, path: Path, tunables: Mapping[str, Any], profile: str = ONLY) -> None:
        """By its client, as all that follows."""
        with self._generator.blamed():
            self._client.load_profile(path, dict(tunables), profile)

    def start(self, mult: float, duration: float = -1, profile: str = ONLY) -> None:
        """Flows that are open at the end finish."""
        with self._generator.blamed():
            self._client.start(mult=mult, duration=duration, profile=profile)

    def update(self, mult: float) -> None:
        """Of the one profile that runs."""
        with self._generator.blamed():
            self._client.update(mult)

    def is_traffic_active(self) -> bool:
        """By the generator's events."""
        with self._generator.blamed():
            return self._client.is_traffic_active()

    def stop(self) -> None:
        """All profiles."""
        with self._generator.blamed():
            self._client.stop()

    def stats(self) -> dict[str, Any]:
        """The client's get_stats()."""
        with self._generator.blamed():
            return self._client.stats()

    def group_stats(self, profile: str = ONLY) -> dict[str, Any]:
        """The client's get_traffic_tg_stats()."""
        with self._generator.blamed():
            return self._client.group_stats(profile)

    def supports(self, method: str) -> bool:
        """As it told when the client connected."""
        return self._client.supports(method)

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """Through the client's own connection."""
        with self._generator.blamed():
            return self._client.call(method, params)

    def data_cpus(self) -> list[int]:
        """Of its configuration."""
        return list(self._generator.config.data_cpus)

    def shares(self) -> list[GeneratorShare]:
        """It makes the whole load."""
        return []

    def describe(self) -> dict[str, Any]:
        """As they are now."""
        bed = {"test_bed": self._bed.describe()} if self._own_bed else {}
        return {"generator": self._generator.describe(), **bed}


@contextmanager
def loading_on(
    bed: LocalTestbed, plan: LoadingPlan, folder: Path, own_bed: bool = False
) -> Iterator[LoadingHere]:
    """A generator on a bed that is there, not begun yet; it is stopped on exit.

    `folder` takes its configuration and log. `own_bed`: see `LoadingHere`.
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
    spawn = spawner(own_end.namespace, plan.cpus)
    with TrexClient(spawn, rpc_port=config.rpc_port, async_port=config.async_port) as client:
        generator = Generator(config, folder, spawn)
        try:
            yield LoadingHere(bed, client, generator, own_bed)
        finally:
            client.close()  # before the generator ends
            generator.stop()


@contextmanager
def loading_here(
    plan: LoadingPlan, folder: Path, say: Callable[[str], None]
) -> Iterator[LoadingHere]:
    """A generator on a bed of its own, whose other side is on another host; undone on exit.

    `say`: shows what is being done.
    """
    say("test bed")
    with (
        patience(plan.patience),
        LocalTestbed(plan.cpus, server_cpus=(), wiring=plan.wiring, part=_part_of(plan)) as bed,
        loading_on(bed, plan, folder, own_bed=True) as side,
    ):
        yield side


def _part_of(plan: LoadingPlan) -> Part:
    return Part("load", plan.interfaces, number=plan.number)
