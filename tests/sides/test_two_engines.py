"""Two real generators as one load, each on its in-memory wire, so that no test bed is needed."""

import dataclasses
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from stackcost.bed.local import LocalTestbed
from stackcost.collect.engine import SCHEDULE_METHOD, EngineTime
from stackcost.collect.latency import read_latency
from stackcost.contracts.errors import StackcostError
from stackcost.files import PROFILES
from stackcost.host.waiting import wait_until
from stackcost.sides.generator import RunningGenerator
from stackcost.sides.generator_group import GeneratorGroup, Member
from stackcost.sides.shares import divide_clients, parts_of
from stackcost.trex.astf_server import AstfServer
from tests.trex.conftest import alive, client_of, wire_config

CLIENTS = "16.0.0.1-16.0.0.200"
PARTS = parts_of([2, 1])
LIMIT_S = 20.0


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[AstfServer]]:
    with ExitStack() as stack:
        made, folder = [], tmp_path_factory.mktemp("engines")
        for at in (1, 2):
            config = dataclasses.replace(wire_config(), name=f"generator-{at}-{os.getpid()}")
            made.append(AstfServer(config, folder))
            stack.callback(made[-1].stop)
        yield made


@pytest.fixture(scope="module")
def both(engines: list[AstfServer]) -> Iterator[GeneratorGroup]:
    with ExitStack() as stack:
        ranges = divide_clients(CLIENTS, PARTS)
        members = []
        for at, engine in enumerate(engines):
            client = stack.enter_context(client_of(engine.config))
            side = RunningGenerator(LocalTestbed(), client, engine, own_bed=False)
            members.append(Member(f"generator-{at + 1}", PARTS[at], ranges[at], side))
        several = stack.enter_context(closing(GeneratorGroup(members)))
        several.begin()
        yield several


def ended(load: GeneratorGroup) -> bool:
    return wait_until(lambda: not load.is_traffic_active(), LIMIT_S)


def test_what_both_opened_and_what_was_served_is_the_same_to_the_connection(
    both: GeneratorGroup,
) -> None:
    both.load_profile(PROFILES / "http_program.py", {"clients": CLIENTS})
    both.start(mult=900, duration=1)
    assert ended(both)
    client, server = (both.stats()["traffic"][side] for side in ("client", "server"))
    assert client["tcps_connects"] == client["tcps_closed"] == server["tcps_accepts"] > 800
    kept = both.call(SCHEDULE_METHOD, {"profile_id": "_"})
    assert kept["opened"] == client["tcps_connattempt"]
    first, second = both.shares()
    assert first.client["tcps_connects"] + second.client["tcps_connects"] == client["tcps_connects"]
    assert first.client["tcps_connects"] == pytest.approx(
        2 * second.client["tcps_connects"], rel=0.1
    )
    histograms = read_latency(both)
    assert histograms is not None
    assert histograms[""]["completion"].get_total_count() == client["tcps_connects"]
    assert len({each.labels["core"] for each in EngineTime("generator", both).read()}) == 2


def test_a_number_of_flows_is_held_exactly(both: GeneratorGroup) -> None:
    hold = {"flows": 301, "cps": 600, "hold_seconds": 3, "response_bytes": 2000}
    both.load_profile(PROFILES / "http_hold.py", hold)
    both.start(mult=1)
    assert wait_until(lambda: both.stats()["traffic"]["client"]["m_est_flows"] == 301, LIMIT_S)
    assert ended(both)
    assert both.stats()["traffic"]["server"]["tcps_closed"] == 301


def test_one_that_is_ended_is_named(both: GeneratorGroup, engines: list[AstfServer]) -> None:
    """The last test of this file: it ends the generators of all of them."""
    both.load_profile(PROFILES / "http_program.py", {"clients": CLIENTS})
    both.start(mult=100)
    os.kill(engines[1].process_id, signal.SIGKILL)
    assert wait_until(lambda: not alive(engines[1].process_id), LIMIT_S)
    with pytest.raises(StackcostError, match=r"generator-2-\d+ ended with exit status"):
        both.stats()
    with pytest.raises(StackcostError, match=r"generator-2-\d+ ended with exit status"):
        both.check()
    os.kill(engines[0].process_id, signal.SIGTERM)
    assert wait_until(lambda: not alive(engines[0].process_id), LIMIT_S)
    with pytest.raises(StackcostError, match=r"generator-1-\d+ ended with exit status 0"):
        engines[0].check()
