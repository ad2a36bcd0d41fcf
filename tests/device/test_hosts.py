"""The standard set of a device on a test bed over hosts, as a plan."""

import json
from contextlib import suppress
from pathlib import Path

import pytest

from stackcost.analysis.ceiling.controller import Bounds, SearchResult
from stackcost.analysis.ceiling.settings import settings_for
from stackcost.contracts.errors import StackcostError
from stackcost.experiment.matrix import variants
from stackcost.runs.device import events_for, experiment_of
from stackcost.runs.search import CeilingPlan, Searched, turns_of
from stackcost.session.generators import generators_of

BED = {
    "title": "a bed",
    "servers": ["nginx/kernel"],
    "baseline": "nginx/kernel",
    "against": "nginx/kernel",
    "rounds": 1,
    "hosts": {"a": {"address": "192.0.2.1"}, "b": {"address": "192.0.2.2"}},
    "bed": {
        "server": {"host": "b", "interfaces": ["eth1", "eth2"]},
        "load": [{"interfaces": ["eth1", "eth2"]}, {"host": "a", "interfaces": ["eth1"]}],
    },
    "cores": {"load": [2], "server": [2, 3]},
    "workload": {"clients": "16.0.0.1-16.0.0.9", "server": "48.0.0.1", "port": 80},
    "load": {
        "profile": "http_program.py",
        "offered_cps": [10],
        "warm_up_s": 1,
        "sustain_s": 1,
        "drain_s": 1,
    },
}


@pytest.fixture
def bed(tmp_path: Path) -> Path:
    file = tmp_path / "bed.yaml"
    file.write_text(json.dumps(BED))
    return file


def test_the_bed_is_that_of_the_file_and_all_else_is_the_set_s_own(bed: Path) -> None:
    usual, there = (experiment_of("nftables", True, {}, file) for file in (None, bed))
    assert there.bed and [each.name for each in generators_of(there)] == [
        "generator-1",
        "generator-2",
    ]
    assert there.cores.server == [2, 3]
    same = ("servers", "dut", "workload", "load", "memory", "rounds")
    assert all(getattr(there, part) == getattr(usual, part) for part in same)


def test_what_a_bed_over_hosts_cannot_do_is_left_out_or_refused(bed: Path) -> None:
    there = experiment_of("nftables", True, {}, bed)
    events, left_out = events_for(there, tracks=True)
    assert events == ["mix", "exhaustion", "half_open", "cut"]
    assert left_out == ["The removed device was left out: its interfaces are those of a host."]
    with pytest.raises(StackcostError, match="nginx behind a device"):
        experiment_of("nftables", True, {"server": "nginx"}, bed)


@pytest.mark.parametrize("there", [False, True])
def test_a_search_over_hosts_has_no_wire_beside_it(bed: Path, there: bool) -> None:
    experiment = experiment_of("nftables", True, {}, bed if there else None)
    alone = experiment.model_copy(update={"servers": experiment.servers[:1]})
    settings = settings_for("connections", quick=True)
    feed = turns_of(CeilingPlan(tuple(variants(alone)), {"connections": settings}, 1))
    bounds = dict.fromkeys(settings.goals, Bounds(upper=9.0))
    kinds = [next(feed).kind.name]
    with suppress(StopIteration):
        kinds.append(feed.send(Searched(SearchResult(bounds), 9.0, [], False)).kind.name)
    assert kinds == (["dut/nftables"] if there else ["dut/nftables", "dut/wire"])
