"""Devices that lose nothing, and whose limits, losses and costs were set on purpose, on the bed."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from scipy.stats import linregress

from stackcost.analysis.ceiling.bottleneck import find_bottleneck
from stackcost.analysis.ceiling.settings import Goal, SearchSettings
from stackcost.analysis.ceiling.stored import SearchKey
from stackcost.analysis.device import device
from stackcost.analysis.readings import Readings
from stackcost.contracts import metrics
from stackcost.duts.base import Dut
from stackcost.runs.loads.constant import OVERHANG_S
from stackcost.runs.loads.search import WARM_UP_S, Steps
from stackcost.runs.search import search_steps
from stackcost.servers.registry import server_class
from stackcost.session.profile_session import ProfileSession
from tests.duts.bed import (
    DEVICE_CPUS,
    become,
    ceiling_trial,
    load_trial,
    session_of,
    softirq_per_frame,
)
from tests.runs.on_session import follow

Bridge = server_class("dut/bridge")
ConnectionLimit = server_class("dut/connection_limit")
Forwarding = server_class("dut/forwarding")
Nat44 = server_class("dut/nat44")
Nftables = server_class("dut/nftables")
Wire = server_class("dut/wire")

pytestmark = pytest.mark.bed

DROP_ONE_IN_100 = """
table ip lossy {
    chain prerouting {
        type filter hook prerouting priority raw; policy accept;
        numgen random mod 100 == 0 drop
    }
}
"""


STRAIGHT = 0.97  # coefficient of determination


class Lossy(Forwarding):
    """Drops one frame of a hundred, whichever way it goes."""

    def ruleset(self) -> str:
        return DROP_ONE_IN_100


def check_nothing_lost(session: ProfileSession, lost: device.LostFrames | None) -> None:
    """A load through what only forwards; all that was asked is done."""
    trial = load_trial(session, 1_000, 0.5).trial
    opened = trial.traffic.counter("tcps_connattempt")
    assert trial.traffic.completed == opened > 0
    assert trial.traffic.retransmitted == trial.traffic.failed == 0
    assert trial.traffic.counter("tcps_rcvbyte") == opened * session.response_bytes
    assert device.lost_frames(trial) == lost
    assert session.serving.open_connections() == 0, "else each trial would wait for them to end"


# Before `session`: one bed at a time.
@pytest.mark.parametrize(("kind", "lost"), [(Bridge, device.LostFrames(0, 0, 0)), (Wire, None)])
def test_a_bridge_loses_nothing_and_neither_does_no_device(
    kind: type[Dut], lost: device.LostFrames | None, tmp_path: Path
) -> None:
    with session_of(kind, tmp_path) as session:
        check_nothing_lost(session, lost)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProfileSession]:
    """A bed with a device, which each test makes into one of its own."""
    with session_of(Forwarding, tmp_path_factory.mktemp("logs")) as session:
        yield session


def test_a_router_loses_nothing(session: ProfileSession) -> None:
    become(session, Forwarding)
    check_nothing_lost(session, device.LostFrames(0, 0, 0))


def test_a_table_of_10_000_connections_is_found_to_hold_as_many(session: ProfileSession) -> None:
    become(session, Nftables, tracked_limit=10_000)
    Steps("flows").prepare(session)
    try:
        trial = ceiling_trial(session, "flows", 12_000)
    finally:
        become(session, Nftables, tracked_limit=262_144)
    assert Readings(trial).at("hold").level(metrics.CONNTRACK_LIMIT) == 10_000
    assert trial.traffic.held_flows == pytest.approx(10_000, rel=0.01)
    found = find_bottleneck(Readings(trial, DEVICE_CPUS))
    assert found.cause == "connection tracking", found.sentence
    assert device.tracking_events(Readings(trial))["drop"] > 0


@pytest.mark.long
def test_a_limit_of_3_000_new_connections_a_second_is_the_ceiling(
    session: ProfileSession, tmp_path: Path
) -> None:
    allowed, burst = 3_000, 30
    become(session, ConnectionLimit, new_per_second=allowed)
    settings = SearchSettings(
        goals=(Goal(name="PDR", loss_ratio=0.005),),
        relative_width=0.02,
        initial_trial_duration=1.0,
        final_trial_duration=1.0,
        duration_sum=1.0,
        first_load=3_600.0,
        most_load=3_600.0,
        repeats=1,
    )
    key = SearchKey(session.local_server.server.name, "connections", 1)
    steps = partial(search_steps, key=key, settings=settings)
    (outcome, *_), trials = follow(session, steps, tmp_path)
    per_trial = allowed + burst / (WARM_UP_S + 1.0 + OVERHANG_S)
    assert outcome.bounds[settings.goals[0]].throughput == pytest.approx(per_trial, rel=0.02)
    lossy = [trial for trial in trials if trial.load.loss.lost > 100]
    assert find_bottleneck(Readings(lossy[0], DEVICE_CPUS)).cause == "in the device"


def test_frames_that_a_device_drops_are_located_in_it(session: ProfileSession) -> None:
    become(session, Lossy)
    seen = load_trial(session, 1_000, 1.0)
    lost = device.lost_frames(seen.trial)
    assert lost is not None and lost.before == lost.after == 0
    entered = sum(passed.entered for passed in seen.trial.load.frames.values())
    spread = 5 * (0.01 * 0.99 / entered) ** 0.5  # of a share of random drops, five sigma
    assert lost.inside / entered == pytest.approx(0.01, abs=spread)
    assert seen.trial.traffic.retransmitted > 0


@pytest.mark.long
def test_linear_rules_cost_each_frame_softirq_time_in_proportion(session: ProfileSession) -> None:
    """Other programs' packets are in their cores' softirq, too: what they disturbed is repeated."""
    counts = (0, 2_000, 4_000, 6_000)
    for _attempt in range(3):
        costs = []
        for count in counts:
            become(session, Nftables, rules=count, established_first=False)
            seen = load_trial(session, 1_000, 1.0)
            costs.append(softirq_per_frame(seen))
        line = linregress(counts, costs)
        if line.rvalue**2 > STRAIGHT:
            break
    assert line.rvalue**2 > STRAIGHT, costs
    assert line.slope * 1_000 > 1.0, costs  # microseconds


@pytest.mark.parametrize("nat", ["masquerade", "static"])
def test_clients_are_translated_and_every_connection_completes(
    session: ProfileSession, nat: str
) -> None:
    made = become(session, Nat44, nat=nat)
    seen = load_trial(session, 500, 0.5)
    made.execute("nft", "list", "ruleset")
    assert seen.trial.traffic.completed == seen.trial.traffic.counter("tcps_connattempt") > 0
    assert device.tracking_events(seen)["insert_failed"] == 0
