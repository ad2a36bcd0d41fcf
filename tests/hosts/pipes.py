"""An agent in a thread of the test, with a server that is made up, on no test bed."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any

import pytest

from stackcost.bed import leftovers, lock
from stackcost.collect.cpu_account import Detail
from stackcost.collect.sampler import Sampler
from stackcost.contracts.collector import Collector
from stackcost.contracts.counts import Clock, Limits, StackCheck, Usage
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.sample import Kind, Metric, Sample
from stackcost.contracts.stack import When
from stackcost.contracts.wiring import TO_SERVER
from stackcost.experiment.read_file import read_experiment
from stackcost.hosts import agent
from stackcost.servers.registry import server_class
from stackcost.session.server_session import server_plan
from stackcost.sides.plans import ServerPlan
from stackcost.sides.sampling import Interface
from stackcost.sides.server import RunningServer
from tests.runs.made_up import COMPARE

NginxKernel = server_class("nginx/kernel")

READS = Metric("made.up", "1", Kind.COUNTER, "a test")
AHEAD_S = 1_000_000.0  # of the clock of the agent's host


class Pipes:
    """A channel of two pipes to an agent. `far`: the agent's ends."""

    def __init__(self) -> None:
        there, here = os.pipe(), os.pipe()
        self.requests: IO[bytes] = os.fdopen(there[1], "wb")
        self.replies: IO[bytes] = os.fdopen(here[0], "rb")
        self.far = os.fdopen(there[0], "rb"), os.fdopen(here[1], "wb")

    def end(self) -> str:
        return "the pipe was cut"

    def close(self) -> None:
        self.requests.close()


class Reads(Collector):
    """`clock`: of the host that it reads on."""

    name, metrics = "made up", (READS,)

    def __init__(self, clock: Callable[[], float]):
        self._clock = clock

    def read(self) -> list[Sample]:
        return [READS.sample(self._clock(), 1.0, core="1")]


class MadeUpServer(RunningServer):
    """`log`: what was asked for, with its arguments."""

    def __init__(self, log: list[Any]):
        self.log = log
        self.name, self.ip_version, self.wiring = "nginx/kernel", 6, TO_SERVER

    def response_length(self) -> int:
        return 1000

    def probe_request(self) -> bytes | None:
        return None

    def check(self) -> None:
        raise StackcostError("nginx has failed: its master has ended", "see its log")

    @contextmanager
    def sampling(self, others: Sequence[Collector], detail: Detail) -> Iterator[Sampler]:
        self.log.append(("sampling", list(others), detail))
        with Sampler([Reads(lambda: agent.time.monotonic())], 0.02) as sampler:
            yield sampler

    def clocks(self) -> dict[str, Clock]:
        return {}

    def before_trial(self) -> dict[str, float]:
        return {"opened": 1.5}

    def serve(self, profile: Path, tunables: Mapping[str, Any]) -> None:
        self.log.append(("serve", profile.name, profile.read_text(), dict(tunables)))

    def check_stack(self, when: When) -> None:
        self.log.append(("check_stack", when))

    def stack_check(self, idle: bool) -> StackCheck:
        return StackCheck("kernel", "kernel", observations={"idle": idle})

    def requests_served(self) -> int | None:
        return None

    def refusals(self) -> dict[str, int] | None:
        return {"full": 3}

    def limits(self, port: int) -> Limits:
        return Limits({"worker-0": Usage(3, port)}, Usage(1, 511))

    def frames(self) -> list[Interface | None]:
        return [Interface(1, 2), Interface(3, 4)]

    def dead_timeout_s(self) -> int | None:
        return 120

    def reset(self) -> None:
        self.log.append(("reset",))

    def cut_link(self) -> None:
        self.log.append(("cut",))

    def remove_device(self) -> None:
        raise StackcostError("a device on interfaces of a host cannot be removed")

    def open_connections(self) -> int:
        return 7

    def end_connections(self, port: int) -> None:
        self.log.append(("end", port))

    def describe(self) -> dict[str, Any]:
        return {"test_bed": {"kind": "made up"}, "server": {"version": "1"}}


@cache
def some_plan() -> ServerPlan:
    return server_plan(NginxKernel, read_experiment(COMPARE, quick=True))


class Here:
    """What a test has of an agent: the ends of its pipes, what it was asked, whether it ended."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch):
        self.log: list[Any] = []
        self.pipes = Pipes()
        self.plan = some_plan()
        self.thread = threading.Thread(target=agent.run, args=self.pipes.far, daemon=True)
        for module in (leftovers, lock):
            monkeypatch.setattr(module, "state_folder", lambda: folder)

        @contextmanager
        def made_up(
            kind: type, plan: Any, logs: Path, say: Callable[[str], None], host: dict[str, Any]
        ) -> Iterator[MadeUpServer]:
            self.log.append(("plan", kind, plan))
            logs.mkdir(exist_ok=True)
            Path(logs, "error.log").write_text("[notice] 1#1: start\n")
            say("test bed")
            try:
                yield MadeUpServer(self.log)
            except GeneratorExit:
                self.log.append("left to the garbage collector")
                raise
            self.log.append("undone")

        monkeypatch.setattr(agent, "local_server", made_up)

    def start(self) -> "Here":
        self.thread.start()
        return self
