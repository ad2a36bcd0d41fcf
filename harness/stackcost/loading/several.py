"""Several generators that load one server as one."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from stackcost.collect.engine import SCHEDULE_METHOD
from stackcost.contracts.counts import GeneratorShare, Schedule
from stackcost.loading.division import divide_flows
from stackcost.loading.side import LoadingSide
from stackcost.loading.sums import sum_call, sum_groups, sum_stats
from stackcost.trex.astf_client import ONLY

Answer = TypeVar("Answer")
CLIENTS, FLOWS = "clients", "flows"  # arguments of the suite's profiles
ASKERS = 2  # threads that ask at once: a collector's, and the one that drives the run


@dataclass(frozen=True, slots=True)
class Member:
    """One generator of several. `part`: of the load, 0 to 1. `clients`: its range of addresses."""

    name: str
    part: float
    clients: str
    side: LoadingSide


class Several(LoadingSide):
    """The members as one loading side. Each has its part of every rate and count.

    They get every order at once, from a thread each. The first one is also the servers behind a
    device. A failed member fails the call with its own message.
    """

    def __init__(self, members: Sequence[Member]):
        self._members = members
        self._parts = [member.part for member in members]
        self._started = [0.0] * len(members)
        self._threads = ThreadPoolExecutor(ASKERS * len(members), "generators")

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()

    def neighbours(self) -> list[str]:
        """Of the first one; the others' are with the routes to their clients."""
        return self._members[0].side.neighbours()

    def ask_server(self, name: str, address: str, port: int, request: bytes) -> int:
        """From the first one."""
        return self._members[0].side.ask_server(name, address, port, request)

    def begin(self) -> None:
        """One after the other: a generator ends with the thread that has started it."""
        for member in self._members:
            member.side.begin()

    def check(self) -> None:
        """All of them."""
        self._each(lambda at, side: side.check())

    def steer(self) -> None:
        """All of them."""
        for member in self._members:
            member.side.steer()

    def load_profile(self, path: Path, tunables: Mapping[str, Any], profile: str = ONLY) -> None:
        """Each with its own clients, and its part of the flows if their number is limited."""
        flows = divide_flows(int(tunables.get(FLOWS, 0)), self._parts)

        def load(at: int, side: LoadingSide) -> None:
            own = {**tunables, CLIENTS: self._members[at].clients}
            if FLOWS in tunables:
                own[FLOWS] = flows[at]
            side.load_profile(path, own, profile)

        self._each(load)

    def start(self, mult: float, duration: float = -1, profile: str = ONLY) -> None:
        """All at once, each with its part of the rate."""

        def start(at: int, side: LoadingSide) -> None:
            side.start(mult * self._parts[at], duration, profile)
            self._started[at] = time.monotonic()

        self._each(start)

    def update(self, mult: float) -> None:
        """All at once."""
        self._each(lambda at, side: side.update(mult * self._parts[at]))

    def is_traffic_active(self) -> bool:
        """Whether any of them has traffic."""
        return any(self._each(lambda at, side: side.is_traffic_active()))

    def stop(self) -> None:
        """All at once."""
        self._each(lambda at, side: side.stop())

    def stats(self) -> dict[str, Any]:
        """The sums."""
        return sum_stats(self._each(lambda at, side: side.stats()))

    def group_stats(self, profile: str = ONLY) -> dict[str, Any]:
        """The sums."""
        return sum_groups(self._each(lambda at, side: side.group_stats(profile)))

    def supports(self, method: str) -> bool:
        """Whether all of them do."""
        return all(member.side.supports(method) for member in self._members)

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """The sum of their answers."""
        names = [member.name for member in self._members]
        return sum_call(method, names, self._each(lambda at, side: side.call(method, params)))

    def data_cpus(self) -> list[int]:
        """Of all; empty if one of them has none."""
        each = [member.side.data_cpus() for member in self._members]
        return [cpu for cpus in each for cpu in cpus] if all(each) else []

    def shares(self) -> list[GeneratorShare]:
        """Read from each of them now."""
        tells = self.supports(SCHEDULE_METHOD)
        first = min(self._started)

        def read(at: int, side: LoadingSide) -> GeneratorShare:
            counters = side.stats()["traffic"]["client"]
            kept = side.call(SCHEDULE_METHOD, {"profile_id": ONLY}) if tells else None
            return GeneratorShare(
                name=self._members[at].name,
                part=self._parts[at],
                clients=self._members[at].clients,
                started_s=self._started[at] - first,
                client={n: v for n, v in counters.items() if isinstance(v, int | float)},
                schedule=Schedule(**kept) if kept else None,
            )

        return self._each(read)

    def describe(self) -> dict[str, Any]:
        """The program of the first one, and the whole of each by its name."""
        each = {member.name: member.side.describe() for member in self._members}
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
        bed = first["test_bed"] | {"loading": beds, "hosts": hosts}
        return {"generator": described, "test_bed": bed}

    def _each(self, ask: Callable[[int, LoadingSide], Answer]) -> list[Answer]:
        """What each of them answers, all asked at once; the error of the first that has failed."""
        asked = [
            self._threads.submit(ask, at, member.side) for at, member in enumerate(self._members)
        ]
        wait(asked)  # an order that some have not carried out yet is not over
        return [each.result() for each in asked]
