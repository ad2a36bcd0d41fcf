"""A generator on another host: a proxy that speaks to the agent there.

The agent drives the generator next to it, and only the calls of the contract cross the line. So
TRex's RPC needs no forwarded port: it stays on the loopback of a namespace of that host.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from stackcost.contracts.counts import GeneratorShare
from stackcost.hosts.line import OPEN_LIMIT_S, Line
from stackcost.hosts.there import finishing
from stackcost.hosts.wire import decode_result, encode_arguments, pack_profile
from stackcost.loading.plan import LoadingPlan
from stackcost.loading.side import LoadingSide
from stackcost.trex.astf_client import ONLY


class LoadingThere(LoadingSide):
    """A loading side behind a line to an agent; each method is a request.

    What it reads gets its time here, when the answer is there.
    """

    def __init__(self, line: Line, plan: LoadingPlan):
        self._line = line
        self._supported: dict[str, bool] = {}
        there = line.call("open_loading", OPEN_LIMIT_S, plan=to_jsonable_python(plan))
        self._machine = there["machine"]

    def neighbours(self) -> list[str]:
        """As there, as in all methods that say no more."""
        return list(self._ask(LoadingSide.neighbours))

    def ask_server(self, name: str, address: str, port: int, request: bytes) -> int:
        """From there."""
        return int(self._ask(LoadingSide.ask_server, name, address, port, request))

    def begin(self) -> None:
        """A generator may take long to start."""
        self._line.call("begin", OPEN_LIMIT_S)

    def check(self) -> None:
        """The generator there, and the line."""
        self._ask(LoadingSide.check)

    def steer(self) -> None:
        """As there."""
        self._ask(LoadingSide.steer)

    def load_profile(self, path: Path, tunables: Mapping[str, Any], profile: str = ONLY) -> None:
        """The agent gets the profile's file."""
        packed, arguments = pack_profile(path), to_jsonable_python(dict(tunables))
        self._line.call("load_profile", path=packed, tunables=arguments, profile=profile)

    def start(self, mult: float, duration: float = -1, profile: str = ONLY) -> None:
        """As there."""
        self._ask(LoadingSide.start, mult, duration, profile)

    def update(self, mult: float) -> None:
        """As there."""
        self._ask(LoadingSide.update, mult)

    def is_traffic_active(self) -> bool:
        """As there."""
        return bool(self._ask(LoadingSide.is_traffic_active))

    def stop(self) -> None:
        """As there."""
        self._ask(LoadingSide.stop)

    def stats(self) -> dict[str, Any]:
        """As there."""
        return dict(self._ask(LoadingSide.stats))

    def group_stats(self, profile: str = ONLY) -> dict[str, Any]:
        """As there."""
        return dict(self._ask(LoadingSide.group_stats, profile))

    def supports(self, method: str) -> bool:
        """Asked once, because readers ask each time."""
        if method not in self._supported:
            self._supported[method] = bool(self._ask(LoadingSide.supports, method))
        return self._supported[method]

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """As there."""
        return self._ask(LoadingSide.call, method, params)

    def data_cpus(self) -> list[int]:
        """As there."""
        return list(self._ask(LoadingSide.data_cpus))

    def shares(self) -> list[GeneratorShare]:
        """As there."""
        return list(self._ask(LoadingSide.shares))

    def describe(self) -> dict[str, Any]:
        """As there, with the host's machine."""
        described = dict(self._ask(LoadingSide.describe))
        described["test_bed"]["hosts"] = {self._line.host: {"machine": self._machine}}
        return described

    def _ask(self, method: Callable[..., Any], *arguments: Any) -> Any:
        given = encode_arguments(method, *arguments)
        return decode_result(method, self._line.call(method.__name__, **given))


@contextmanager
def loading_there(line: Line, plan: LoadingPlan, folder: Path) -> Iterator[LoadingThere]:
    """The loading side of `plan` on a host; the agent undoes everything on exit.

    `folder` takes the logs from there.
    """
    with finishing(line, folder):
        yield LoadingThere(line, plan)
