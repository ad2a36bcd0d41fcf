"""The serving side of a turn on another host: a proxy that speaks to the agent there."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from stackcost.collect.cpu_account import Detail
from stackcost.collect.sampler import Sampler
from stackcost.contracts.collector import Collector
from stackcost.contracts.counts import Carrier, Clock, Limits
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.sample import Sample
from stackcost.contracts.server import Server
from stackcost.contracts.stack import When
from stackcost.hosts.clock import compare_clocks
from stackcost.hosts.line import OPEN_LIMIT_S, Line
from stackcost.hosts.wire import decode_result, encode_arguments, pack_profile
from stackcost.serving.here import SAMPLE_INTERVAL_S
from stackcost.serving.plan import ServingPlan
from stackcost.serving.side import Interface, Sampling, ServingSide

SAMPLES = TypeAdapter(list[Sample])


class ServingThere(ServingSide):
    """A serving side behind a line to an agent; each method is a request.

    `cpus`: cores of this host where the collectors of this process may run; empty: all.
    """

    def __init__(self, line: Line, kind: type[Server], plan: ServingPlan, cpus: Sequence[int]):
        self._line = line
        self._cpus = cpus
        self._offset_s = 0.0
        self.name = kind.name
        self.wiring = kind.wiring_for(plan.settings)
        settings = to_jsonable_python(plan)
        profile = pack_profile(plan.settings.profile)
        there = line.call("open", OPEN_LIMIT_S, server=kind.name, plan=settings, profile=profile)
        self.ip_version = there["ip_version"]
        self._machine = there["machine"]

    def response_length(self) -> int:
        """As probed there."""
        return int(self._ask(ServingSide.response_length))

    def probe_request(self) -> bytes | None:
        """As there."""
        request: bytes | None = self._ask(ServingSide.probe_request)
        return request

    def check(self) -> None:
        """Each process there, and the line."""
        self._ask(ServingSide.check)

    @contextmanager
    def sampling(self, others: Sequence[Collector], detail: Detail) -> Iterator[Sampling]:
        """Everything there is read there; the `others` are read here."""
        self._line.call("start_sampling", detail=to_jsonable_python(detail))
        self.clocks()
        with Sampler(others, SAMPLE_INTERVAL_S, self._cpus) as here:
            yield _BothSides(self._line, here, self._moved)

    def clocks(self) -> dict[str, Clock]:
        """The clock there; from now on its samples are moved by this offset."""
        clock = compare_clocks(lambda: float(self._line.call("clock")))
        self._offset_s = clock.offset_s
        return {self._line.host: clock}

    def before_trial(self) -> dict[str, float]:
        """As there."""
        return dict(self._ask(ServingSide.before_trial))

    def serve(self, profile: Path, tunables: Mapping[str, Any]) -> None:
        """The agent gets the profile's file."""
        packed, arguments = pack_profile(profile), to_jsonable_python(dict(tunables))
        self._line.call("serve", OPEN_LIMIT_S, profile=packed, tunables=arguments)

    def look(self, when: When) -> None:
        """As there."""
        self._ask(ServingSide.look, when)

    def proof(self, idle: bool) -> Carrier | None:
        """As there."""
        carrier: Carrier | None = self._ask(ServingSide.proof, idle)
        return carrier

    def requests_served(self) -> int | None:
        """As there."""
        count: int | None = self._ask(ServingSide.requests_served)
        return count

    def refusals(self) -> dict[str, int] | None:
        """As there."""
        refused: dict[str, int] | None = self._ask(ServingSide.refusals)
        return refused

    def limits(self, port: int) -> Limits:
        """As there."""
        limits: Limits = self._ask(ServingSide.limits, port)
        return limits

    def frames(self) -> list[Interface | None]:
        """As there."""
        return list(self._ask(ServingSide.frames))

    def dead_timeout_s(self) -> int | None:
        """As there."""
        seconds: int | None = self._ask(ServingSide.dead_timeout_s)
        return seconds

    def reset(self) -> None:
        """As there."""
        self._ask(ServingSide.reset)

    def cut_link(self) -> None:
        """As there."""
        self._ask(ServingSide.cut_link)

    def remove_device(self) -> None:
        """As there."""
        self._ask(ServingSide.remove_device)

    def open_connections(self) -> int:
        """As there."""
        return int(self._ask(ServingSide.open_connections))

    def end_connections(self, port: int) -> None:
        """As there."""
        self._ask(ServingSide.end_connections, port)

    def describe(self) -> dict[str, Any]:
        """As there, with the host's machine."""
        described = dict(self._ask(ServingSide.describe))
        described["test_bed"]["hosts"] = {self._line.host: {"machine": self._machine}}
        return described

    def _ask(self, method: Callable[..., Any], *arguments: Any) -> Any:
        given = encode_arguments(method, *arguments)
        return decode_result(method, self._line.call(method.__name__, **given))

    def _moved(self, samples: Any) -> list[Sample]:
        """Samples of the agent, moved to the clock of this host."""
        return [
            sample._replace(time=sample.time - self._offset_s)
            for sample in SAMPLES.validate_python(samples)
        ]


class _BothSides:
    """Readings of the agent's host and of this one. What was read stays when the line is cut."""

    def __init__(self, line: Line, here: Sampler, moved: Callable[[Any], list[Sample]]):
        self._line = line
        self._here = here
        self._moved = moved
        self._samples: list[Sample] = []
        self._taken = 0
        self._lock = threading.Lock()

    @property
    def samples(self) -> list[Sample]:
        """Those that were read there are fetched first; all in order of time."""
        with suppress(StackcostError):
            self._keep(self._moved(self._line.call("take")))
        self._samples.sort(key=lambda sample: sample.time)
        return self._samples

    def read_now(self) -> list[Sample]:
        """Both at once."""
        answer = self._line.ask("read_now")
        here = self._here.read_now()
        there = self._moved(self._line.wait(answer, "reading"))
        self._keep(there)
        return here + there

    def read_often(self, names: Collection[str], interval_s: float) -> None:
        """On both hosts. A line that is cut is told by the next reading."""
        self._here.read_often(names, interval_s)
        often = interval_s if names else None  # JSON has no infinity
        with suppress(StackcostError):
            self._line.call("read_often", names=list(names), interval_s=often)

    def divide(self, on: bool) -> None:
        """On the server's host, and on this one."""
        with suppress(StackcostError):
            self._line.call("divide", on=on)
        self._here.divide(on)

    def _keep(self, there: list[Sample]) -> None:
        with self._lock:
            here = self._here.samples[self._taken :]
            self._taken += len(here)
            self._samples += there + here


@contextmanager
def serving_there(
    line: Line,
    kind: type[Server],
    plan: ServingPlan,
    folder: Path,
    cpus: Sequence[int],
) -> Iterator[ServingThere]:
    """The serving side of `plan` on a host; the agent undoes everything on exit.

    `folder` takes the logs from there. `cpus`: see `ServingThere`.
    """
    with finishing(line, folder):
        yield ServingThere(line, kind, plan, cpus)


@contextmanager
def finishing(line: Line, folder: Path) -> Iterator[None]:
    """On exit let the agent undo everything, and keep its logs."""
    try:
        yield
    finally:
        with suppress(StackcostError):  # a line that was cut: the agent undoes everything too
            for name, text in line.call("close").items():
                path = folder / line.host / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
