"""Every kind of load comes back as it was stored; a line of another format is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from stackcost.contracts.counts import FramesPassed, Limits, Schedule, Second, StackCheck, Usage
from stackcost.contracts.event_settings import QUICK
from stackcost.contracts.http import HttpCounts, HttpSettings
from stackcost.contracts.load import (
    ConstantLoad,
    CountedLoad,
    DeviceEvent,
    EventTimeline,
    HeldFlows,
    HttpClients,
    Load,
    Loss,
    MixedLoad,
    MixStep,
    SearchStep,
)
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.store import RunFolder, trial_lines

LIMITS = Limits(
    open_files={"worker-0": Usage(5, 10)},
    accept_queue=Usage(1, 511),
    tracked_connections_limit=1000,
    refused={"worker_connections": 1},
    no_accept_queue="nobody listens",
)
TRAFFIC: dict[str, Any] = {
    "client": {"tcps_connects": 7.0},
    "schedule": Schedule(intended=9, opened=8, late=2, unsent=1),
    "cut_flows": 3,
    "frames": {"to servers": FramesPassed(4, 3, 2, 1), "to clients": FramesPassed(8, 7, 6, 5)},
    "limits": LIMITS,
    "overrun_s": 0.25,
}
RATE = ConstantLoad(
    offered_cps=500.0,
    requests_per_connection=20,
    latency={"web": {"connect": "HIST"}},
    seconds=[Second(1.0, 2.0, {"web": {"connect": "HIST"}})],
    server_requests=70,
    statuses={"200": 18, "503": 2},
    **TRAFFIC,
)
HOLD = HeldFlows(open_flows=50, state="tracked", held_flows=49.0, **TRAFFIC)
LOADS: list[Load] = [
    RATE,
    CountedLoad(offered_cps=500.0, connections=500, **TRAFFIC),
    HOLD,
    HttpClients(
        test="tps",
        offered_rps=200.0,
        settings=HttpSettings("wrk", 2, 4, [1000, 2000], True, False, "latency", True),
        counted=HttpCounts(99, 9.9, 8e6, {"read": 1}, 2, "as made", {"user": 1.0, "system": 2.0}),
        latency={"": {"request": "HIST"}},
        processes=[7, 8],
        others=[1],
        ended_early=True,
        stopped_s=1.5,
        waited_s=0.25,
        server_requests=100,
        limits=LIMITS,
        stack_check=StackCheck(
            "onload-wrk", "kernel", "no stack", {"before": {"objections": ["x"]}}
        ),
    ),
    SearchStep(
        of="requests",
        load=10_000.0,
        duration_s=1.0,
        offered=RATE,
        repeat=1,
        reference=True,
        loss=Loss(200, 3, {"SYN sent again": 3}, ["stolen"]),
    ),
    SearchStep(of="flows", load=50.0, duration_s=1.0, offered=HOLD),
    DeviceEvent(event="cut", settings=QUICK, timeline=EventTimeline(5.0, 100, 30, 7.0), **TRAFFIC),
    MixedLoad(steps=[MixStep(200.0, Window(1.0, 2.0)), MixStep(100.0, Window(3.0, 4.0))]),
]


def trial_of(load: Load) -> Trial:
    return Trial(
        server="nginx/kernel",
        number=3,
        round=2,
        load=load,
        response_bytes=1000,
        phases={"sustain": Window(10.0, 11.0)},
        before={"cached_bytes": 9.0},
        suspended_s=0.5,
        stack_check=StackCheck("kernel", "kernel"),
        set_aside="cut short",
    )


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.kind)
def test_each_kind_comes_back_as_it_was_stored(load: Load) -> None:
    stored = trial_of(load)
    line = trial_lines.encode(stored)
    assert json.loads(line)["load"]["kind"] == load.kind
    assert trial_lines.decode(line) == stored


def test_a_combination_that_cannot_be_is_refused() -> None:
    with pytest.raises(TypeError, match="offered_cps"):
        HeldFlows(open_flows=50, offered_cps=500.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="open_flows"):
        ConstantLoad(offered_cps=500.0, open_flows=50)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="a search of flows does not offer a load"):
        SearchStep(of="flows", load=500.0, duration_s=1.0, offered=RATE)
    with pytest.raises(ValueError, match="a search of requests does not offer a hold"):
        SearchStep(of="requests", load=500.0, duration_s=1.0, offered=HOLD)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kind": "what"}, "Input tag 'what' found using 'kind'"),
        ({"kind": "hold", "open_flows": 50, "offered_cps": 500.0}, "load.hold.offered_cps"),
        ({"kind": "load"}, "load.load.offered_cps: Field required"),
        (
            {"kind": "search", "of": "flows", "load": 1, "duration_s": 1}
            | {"offered": {"kind": "load", "offered_cps": 1}},
            "a search of flows does not offer a load",
        ),
    ],
)
def test_a_stored_load_that_cannot_be_is_reported_and_the_others_count(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    run = RunFolder.create(tmp_path, "compare")
    run.add_trial(trial_of(RATE))
    path = run.path / "trials.jsonl"
    record = json.loads(path.read_bytes()) | {"load": change, "number": 4}
    path.write_bytes(path.read_bytes() + json.dumps(record).encode() + b"\n")
    stored = run.stored()
    assert [trial.number for trial in stored.trials] == [3]
    (said,) = stored.damaged
    assert said.startswith("line 2 of trials.jsonl: ") and told in said
