"""A generator behind an agent: everything that a session asks, two of them as one, and faults."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from stackcost.collect.engine import SCHEDULE_METHOD
from stackcost.collect.latency import read_latency
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import THROUGH_ROUTER
from stackcost.hosts import agent
from stackcost.hosts.host import Host
from stackcost.hosts.remote import remote_generator
from stackcost.sides.generator import RunningGenerator
from stackcost.sides.generator_group import GeneratorGroup, Member
from stackcost.sides.plans import GeneratorPlan
from tests.hosts.pipes import Here
from tests.sides.made_up import MadeUpGenerator

LIMIT_S = 20.0
PLAN = GeneratorPlan(
    name="generator-2",
    number=1,
    wiring=THROUGH_ROUTER,
    cpus=(0, 1),
    timeout_factor=1,
    interfaces=("nic0",),
    host="a",
)


class Describing(MadeUpGenerator):
    def describe(self) -> dict[str, dict[str, str]]:
        return {"generator": {"program": "astf-engine"}, "test_bed": {"kind": "made up"}}


@pytest.fixture
def side() -> MadeUpGenerator:
    return Describing(300, [90, 100])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, side: MadeUpGenerator) -> Here:
    made = Here(tmp_path, monkeypatch)

    @contextmanager
    def made_up(
        plan: GeneratorPlan, logs: Path, say: Callable[[str], None], host: dict[str, Any]
    ) -> Iterator[MadeUpGenerator]:
        assert host["a"]["machine"]["kernel"]
        made.log.append(plan)
        logs.mkdir(exist_ok=True)
        Path(logs, "generator-2.log").write_text("started\n")
        yield side
        made.log.append("undone")

    monkeypatch.setattr(agent, "local_generator", made_up)
    return made.start()


@contextmanager
def opened(here: Here, logs: Path) -> Iterator[RunningGenerator]:
    with Host("a", here.pipes, print) as host, remote_generator(host, PLAN, logs) as there:
        yield there


def test_everything_that_a_session_asks_comes_through(
    here: Here, side: MadeUpGenerator, tmp_path: Path
) -> None:
    profile = tmp_path / "own.py"
    profile.write_text("# a profile\n")
    with opened(here, tmp_path / "logs") as there:
        assert there.neighbours() == side.neighbours()
        assert there.ask_server("peer", "48.0.0.1", 80, b"GET / HTTP/1.1\r\n\r\n") == 18
        there.begin()
        there.steer()
        there.load_profile(profile, {"clients": "16.0.0.1-16.0.0.9"}, "a")
        there.start(mult=7.5, duration=3, profile="a")
        there.update(9)
        assert not there.is_traffic_active()
        there.stop()
        assert there.stats() == side.stats() and there.group_stats() == side.group_stats()
        assert there.supports(SCHEDULE_METHOD) and not there.supports("get_version")
        assert there.call(SCHEDULE_METHOD, {}) == side.call(SCHEDULE_METHOD, {})
        assert read_latency(there)["web"].keys() == read_latency(side)["web"].keys()
        assert (there.data_cpus(), there.shares()) == ([3], [])
        described = there.describe()
    assert described == side.describe()
    assert side.log == [
        "begin",
        "steer",
        ("load", "own.py", {"clients": "16.0.0.1-16.0.0.9"}, "a"),
        ("start", 7.5, 3, "a"),
        ("update", 9),
        "stop",
    ]
    assert here.log == [PLAN, "undone"]
    assert (tmp_path / "logs" / "a" / "generator-2.log").read_text() == "started\n"


def test_one_that_dies_there_is_named_with_its_host(
    here: Here, side: MadeUpGenerator, tmp_path: Path
) -> None:
    alive = MadeUpGenerator(100)
    with ExitStack() as stack:
        there = stack.enter_context(opened(here, tmp_path / "logs"))
        members = [Member("generator-1", 0.5, "", alive), Member("generator-2", 0.5, "", there)]
        both = stack.enter_context(closing(GeneratorGroup(members)))
        assert both.stats()["traffic"]["client"]["tcps_connects"] == 400
        side.dead = "generator-2 ended with exit status -9: it printed nothing"
        with pytest.raises(StackcostError, match="host a: generator-2 ended with exit status -9"):
            both.check()


def test_a_line_that_is_cut_ends_the_generator_and_every_order(here: Here, tmp_path: Path) -> None:
    with opened(here, tmp_path / "logs") as there:
        here.pipes.requests.close()
        here.thread.join(LIMIT_S)
        here.pipes.far[1].close()
        for ask in (there.stats, there.check, there.stop):
            with pytest.raises(StackcostError, match="host a: the line to its agent has ended"):
                ask()
    assert here.log[-1] == "undone"
