"""Several generators that load one server as one."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from typing_extensions import override

from stackcost.collect.engine import SCHEDULE_METHOD
from stackcost.contracts.counts import GeneratorShare, Schedule
from stackcost.contracts.errors import StackcostError
from stackcost.remote.stub import Call, RemoteStub, how_of
from stackcost.sides.generator import RunningGenerator
from stackcost.sides.shares import divide_flows
from stackcost.sides.sums import sum_call, sum_groups, sum_stats
from stackcost.trex.astf_client import ONLY

Answer = TypeVar("Answer")
RATE = "rate_mbit"
CLIENTS, FLOWS = "clients", "flows"  # arguments of the suite's profiles
ASKERS = 2  # threads that ask at once: a collector's, and the one that drives the run


@dataclass(frozen=True, slots=True)
class Member:
    """One generator of several. `part`: of the load, 0 to 1. `clients`: its range of addresses."""

    name: str
    part: float
    clients: str
    generator: RunningGenerator


def _all_cpus(each: Sequence[list[int]]) -> list[int]:
    """Of all; empty if one of them has none."""
    return [cpu for cpus in each for cpu in cpus] if all(each) else []


def _sums(each: Sequence[Mapping[str, int]]) -> dict[str, int]:
    return {name: sum(counts[name] for counts in each) for name in each[0]}


# How the answers of all members become one. A method that is not here must return nothing.
ANSWERS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "neighbours": lambda each: each[0],  # the others' are with the routes to their clients
    "is_traffic_active": any,
    "stats": sum_stats,
    "group_stats": sum_groups,
    "supports": all,
    "data_cpus": _all_cpus,
    "network_counts": _sums,
}


class GeneratorGroup(RemoteStub, RunningGenerator, of=RunningGenerator):
    """Generators as one. Each has its part of every rate and count.

    They get every order at once, from a thread each; what has to be done in turn, in turn. The
    first one is also the servers behind a device. A failed member fails the call with its own
    message.
    """

    def __init__(self, members: Sequence[Member]):
        self._members = members
        self._parts = [member.part for member in members]
        self._started = [0.0] * len(members)
        self._threads = ThreadPoolExecutor(ASKERS * len(members), "generators")

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()

    @override
    def handle(self, call: Call) -> Any:
        def ask(_: int, generator: RunningGenerator) -> Any:
            return getattr(generator, call.method.__name__)(**call.arguments)

        name = call.method.__name__
        if name not in ANSWERS and call.method.__annotations__["return"] is not None:
            raise StackcostError(f"several generators have no common answer to {name}")
        if how_of(call.method).in_turn:
            answers = [ask(at, each.generator) for at, each in enumerate(self._members)]
        else:
            answers = self._each(ask)
        return ANSWERS[name](answers) if name in ANSWERS else None

    @override
    def ask_server(
        self, name: str, address: str, port: int, request: bytes, tls: bool = False
    ) -> int:
        return self._members[0].generator.ask_server(name, address, port, request, tls)

    @override
    def load_profile(
        self,
        path: Path,
        tunables: Mapping[str, Any],
        profile: str = ONLY,
        tls: Mapping[str, Any] | None = None,
    ) -> None:
        """Each with its own clients, and its part of the flows if their number is limited."""
        flows = divide_flows(int(tunables.get(FLOWS, 0)), self._parts)

        def load(at: int, generator: RunningGenerator) -> None:
            own = {**tunables, CLIENTS: self._members[at].clients}
            if FLOWS in tunables:
                own[FLOWS] = flows[at]
            generator.load_profile(path, own, profile, tls)

        self._each(load)

    @override
    def set_network(self, settings: Mapping[str, float]) -> None:
        """Each with its part of the rate, as each has its part of the frames."""

        def set_own(at: int, generator: RunningGenerator) -> None:
            rate = settings.get(RATE)
            own = {RATE: rate * self._parts[at]} if rate else {}
            generator.set_network({**settings, **own})

        self._each(set_own)

    @override
    def start(self, mult: float, duration: float = -1, profile: str = ONLY) -> None:
        """Each with its part of the rate."""

        def start(at: int, generator: RunningGenerator) -> None:
            generator.start(mult * self._parts[at], duration, profile)
            self._started[at] = time.monotonic()

        self._each(start)

    @override
    def update(self, mult: float) -> None:
        self._each(lambda at, generator: generator.update(mult * self._parts[at]))

    @override
    def call(self, method: str, params: dict[str, Any]) -> Any:
        names = [member.name for member in self._members]
        answers = self._each(lambda at, generator: generator.call(method, params))
        return sum_call(method, names, answers)

    @override
    def shares(self) -> list[GeneratorShare]:
        tells = self.supports(SCHEDULE_METHOD)
        first = min(self._started)

        def read(at: int, generator: RunningGenerator) -> GeneratorShare:
            counters = generator.stats()["traffic"]["client"]
            kept = generator.call(SCHEDULE_METHOD, {"profile_id": ONLY}) if tells else None
            return GeneratorShare(
                name=self._members[at].name,
                part=self._parts[at],
                clients=self._members[at].clients,
                started_s=self._started[at] - first,
                client={n: v for n, v in counters.items() if isinstance(v, int | float)},
                schedule=Schedule(**kept) if kept else None,
            )

        return self._each(read)

    @override
    def describe(self) -> dict[str, Any]:
        """The program of the first one, and the whole of each by its name."""
        each = {member.name: member.generator.describe() for member in self._members}
        first = each[self._members[0].name]
        generators = {
            member.name: each[member.name]["generator"]
            | {"part": member.part, "clients": member.clients}
            for member in self._members
        }
        described = {"program": first["generator"]["program"], "generators": generators}
        beds = {name: found["test_bed"] for name, found in each.items() if "test_bed" in found}
        if not beds:
            return {"generator": described}
        hosts = {k: v for bed in beds.values() for k, v in bed.get("hosts", {}).items()}
        bed = first["test_bed"] | {"generators": beds, "hosts": hosts}
        return {"generator": described, "test_bed": bed}

    def _each(self, ask: Callable[[int, RunningGenerator], Answer]) -> list[Answer]:
        """What each of them answers, all asked at once; the error of the first that has failed."""
        asked = [
            self._threads.submit(ask, at, member.generator)
            for at, member in enumerate(self._members)
        ]
        wait(asked)  # an order that some have not carried out yet is not over
        return [each.result() for each in asked]
