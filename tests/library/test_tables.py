"""Stored runs as tables: what `import stackcost` gives to a notebook of one's own."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas
import pytest

import stackcost
from stackcost.analysis.device.event_summary import EventSummary, MixResult, MixStepResult
from stackcost.analysis.device.mix import Step
from stackcost.analysis.figures import registry
from stackcost.contracts.errors import StackcostError
from stackcost.report.library.columns import TABLES
from stackcost.report.library.run import Run
from stackcost.report.results.opened import OpenedRuns
from stackcost.store import Manifest
from tests.analysis.stored_runs import INTERRUPTED, SMALL
from tests.report.fixtures import ALL, COSTS, RUNS
from tests.report.stored import store

HEAVY = ("pandas", "numpy", "matplotlib", "pyarrow")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return stackcost.open(shutil.copytree(SMALL, tmp_path_factory.mktemp("runs") / "small"))


@pytest.fixture(scope="module")
def costs() -> Run:
    return stackcost.open(*COSTS)


@pytest.fixture(scope="module")
def everything() -> Run:
    return stackcost.open(*ALL)


@pytest.fixture(scope="module")
def summary() -> dict[str, object]:
    return json.loads((SMALL / "summary.json").read_bytes())  # type: ignore[no-any-return]


def test_importing_is_light_and_opening_runs_nothing_of_the_harness(tmp_path: Path) -> None:
    run = store(tmp_path)
    told = f"""
import sys, stackcost
print([name for name in {HEAVY!r} if name in sys.modules])
stackcost.open({str(run.path)!r}).figures
acting = ("cli", "runs", "session", "sides", "servers", "duts", "trex")
print([name for name in acting if f"stackcost.{{name}}" in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[]"], done.stderr


def test_every_column_of_every_table_has_unit_and_definition(small: Run, everything: Run) -> None:
    columns = small.columns()
    assert list(columns["table"].unique()) == list(TABLES)
    assert columns["definition"].str.len().min() > 5 and columns["unit"].notna().all()
    for table in TABLES:
        frame = getattr(everything, table)
        if callable(frame):  # from the trials, which these runs are kept without
            frame = small.samples(trials=[4]) if table == "samples" else small.merged_latency()
        assert list(frame.columns) == list(small.columns(table)["column"]), table
        # The runs were made before there were these.
        before = ("http_costs", "why", "counts", "latency_over_time")
        assert len(frame) or table in before, table
    with pytest.raises(StackcostError, match="there is no table 'cost'"):
        small.columns("cost")


def test_the_costs_are_those_of_the_report(small: Run) -> None:
    (at_load,) = {level.offered_cps for s in small.opened.servers for level in s.levels}
    time = pandas.concat([small.kinds("server_cpu"), small.kinds("peer_kernel_cpu")])
    totals = time.groupby(["system", "round"])["value"].sum()
    for server in small.opened.servers:
        (level,) = server.levels
        wanted = dict(
            zip(level["server_cpu_total"].rounds, level["server_cpu_total"].values, strict=True)
        )
        assert totals[server.name].to_dict() == pytest.approx(wanted)
    assert set(time["offered_cps"]) == {at_load} and time["quoted"].all()


def test_memory_and_its_points_lie_on_one_line(small: Run) -> None:
    held = small.figures[small.figures["system"] == "nginx/kernel"].set_index("figure")["value"]
    slopes, starts = (held[f"memory.{of}.kernel slab"] for of in ("per_flow", "at_no_flow"))
    points = small.memory_points
    read = points[(points["system"] == "nginx/kernel") & (points["kind"] == "kernel slab")]
    assert sorted(set(read["open_flows"])) == [0, 1000, 2000] and len(read) == 6
    for start, slope in zip(starts, slopes, strict=True):
        assert start + 2000 * slope == pytest.approx(read["bytes"].max(), rel=0.05)
    quoted = small.kinds("memory.per_flow").query("quoted")
    total = quoted.groupby(["system", "round"])["value"].sum()
    for server in small.opened.servers:
        assert server.memory is not None
        assert total[server.name].tolist() == pytest.approx(server.memory["memory.total"].values)
    caches = small.kinds("memory.caches").query("quoted")
    assert {"TCP", "dentry"} <= set(caches["kind"]), "they are parts of the kind kernel slab"
    assert not set(caches["kind"]) & {"proc_inode_cache", "ext4_inode_cache", "kmalloc-rcl-64"}
    owners = small.kinds("memory.owners").query("quoted")
    assert set(caches["system"]) | set(owners["system"]) == {"nginx/kernel"}


def test_latency_has_every_percentile_of_every_round(small: Run) -> None:
    wide = small.latency.pivot_table("value", ["system", "kind", "round"], "percentile")
    assert set(wide.columns) == {"p50", "p90", "p99", "p99.9", "max"}
    assert len(wide) == 2 * 3 * 2 and (wide["p50"] <= wide["max"]).all()


def test_trials_have_their_flags_and_why_they_are_in_no_figure(small: Run) -> None:
    trials = small.trials
    assert trials["trial"].tolist() == list(range(1, 21))
    aside = trials[trials["set_aside"] != ""]
    assert aside["set_aside"].str.startswith("disturbed, repeated as trial").all() and len(aside)
    assert not trials["flags"].str.contains("in no figure").any()
    assert (trials["flags"] != "").sum() == 10


def test_samples_are_cut_to_the_phases_that_figures_are_of(small: Run) -> None:
    samples = small.samples("cpu.exact_time", trials=[5])
    assert set(samples["metric"]) == {"cpu.exact_time"} and set(samples["trial"]) == {5}
    assert sorted(samples["core"].unique()) == [0, 1]
    sustain = samples[samples["phase"] == "sustain"]
    own = sustain[sustain["core"] == 1]
    length = own["seconds"].max() - own["seconds"].min()
    assert length == pytest.approx(2.0, abs=0.2)
    by_kind = own.groupby(own["labels"].str.get("kind"))["value"]
    assert (by_kind.max() - by_kind.min()).sum() == pytest.approx(length, rel=0.02)
    assert len(small.samples(trials=[5])) > len(samples)


def test_a_run_of_each_kind_opens() -> None:
    assert len(stackcost.open(INTERRUPTED).trials) == 9
    steps = stackcost.open(RUNS / "connections").trials
    assert set(steps["part"]) == {"search"} and steps["offered_cps"].notna().all()
    assert stackcost.open(RUNS / "events").kinds("server_cpu").empty


def test_of_several_runs_each_system_has_its_runs_number(costs: Run) -> None:
    assert {name[:6] for name in costs.figures["system"]} == {"run 1:", "run 2:"}
    assert costs.figures["run"].nunique() == 2


def test_a_run_is_found_by_its_name_and_a_missing_one_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STACKCOST_RUNS", raising=False)
    shutil.copytree(RUNS / "stock", tmp_path / "results" / "mine")
    assert len(stackcost.open("mine").figures)
    with pytest.raises(StackcostError, match="absent is not a run's folder"):
        stackcost.open("absent")
    with pytest.raises(StackcostError, match="no run was given"):
        stackcost.open()


def test_an_answer_that_is_not_fresh_is_computed_from_the_trials(tmp_path: Path) -> None:
    run = store(tmp_path)
    assert not (run.path / "summary.json").exists()
    time = stackcost.open(run.path).kinds("server_cpu")
    assert time.groupby(["system", "offered_cps", "round"])["value"].sum().max() < 110
    assert not (run.path / "summary.json").exists(), "it only reads"


def test_loads_have_what_completed_and_the_sum_of_the_costs(small: Run) -> None:
    loads = small.figures.query("case == ''")
    for server in small.opened.servers:
        (level,) = server.levels
        own = loads[loads["system"] == server.name].groupby("figure")["value"]
        for figure, spread in (
            ("completed_cps", level["completed_cps"]),
            ("server_cpu_total", level["server_cpu_total"]),
            ("generator_busy", level["generator_busy"]),
        ):
            assert own.get_group(figure).tolist() == pytest.approx(spread.values), figure
    assert loads["quoted"].all() and set(loads["past_ceiling"]) == {""}


def test_an_unknown_figure_of_a_load_is_nan_with_its_reason() -> None:
    loads = stackcost.open(RUNS / "stock").figures
    unknown = loads[loads["value"].isna()]
    assert len(unknown) and (unknown["reason"] != "").all()
    assert (loads.dropna(subset="value")["reason"] == "").all()


def test_tests_of_http_clients_are_over_workers_in_the_publications_units() -> None:
    tests = stackcost.open(RUNS / "with_clients").tests
    assert set(tests["counted"]) == {"worker processes"} and set(tests["count"]) == {1, 2}
    units = tests.groupby("figure")["unit"].unique().str[0].to_dict()
    assert units["connections"] == "connections/s" and units["throughput"] == "Gb/s"
    assert set(tests[tests["tls"]]["test"]) == {"tps-tls"}
    assert tests["value"].notna().all() and (tests["round"] >= 1).all()


def test_checks_of_trials_and_criteria_over_all_rounds_are_apart(small: Run) -> None:
    checks = small.checks
    wanted = [check for s in small.opened.summaries for t in s.trials for check in t.checks]
    of_trials = checks.dropna(subset="trial")
    assert (of_trials["holds"] == "yes").sum() == sum(check.holds is True for check in wanted)
    assert len(of_trials) == len(wanted)
    criteria = checks[checks["trial"].isna()]
    levels = [level for server in small.opened.servers for level in server.levels]
    assert len(criteria) == sum(len(level.acceptance) for level in levels) > 0
    assert (checks[checks["holds"] == "unknown"]["reason"] != "").all()


def test_a_factor_has_every_round_and_the_ratio_of_all(small: Run) -> None:
    factors = small.factors
    (found, *_) = small.opened.factors("cpu")
    own = factors[factors["factor"] == "cpu"]
    assert own["ratio"].tolist() == pytest.approx(found.ratio.values)
    assert set(own["median"]) == {found.ratio.median}
    assert (own["low"] <= own["median"]).all() and (own["median"] <= own["high"]).all()


def test_runs_are_compared_with_the_first_by_the_answer_of_diff(costs: Run) -> None:
    (answer,) = costs.differences
    found = costs.comparisons
    assert found["figure"].tolist() == [each.figure for each in answer.comparisons]
    judged = [each for each in answer.comparisons if each.verdict != "not judged"]
    assert found["judged"].sum() == len(judged) == 4
    assert found[found["judged"]]["ratio"].tolist() == [each.ratio for each in judged]


def test_an_event_has_its_figures_and_its_series() -> None:
    run = stackcost.open(RUNS / "events")
    events, series = run.figures, run.event_series
    assert list(events["case"].unique()) == ["exhaustion", "cut"]
    of = events.set_index(["figure", "case"])["value"]
    assert of["event.recovered"].isna().all() and len(of["frames_lost.inside"]) == 1
    for event, at in of["event.at"].items():
        own = series[series["event"] == event]
        assert (own["at_s"] == at).all() and own["series"].nunique() >= 5
        assert own["seconds"].min() < at < own["seconds"].max()


def test_a_ceiling_has_each_of_its_figures() -> None:
    run = stackcost.open(RUNS / "connections", RUNS / "requests")
    found = run.figures
    rates = {
        (ceiling.server, f"ceiling.{ceiling.of}.{rate.name}"): rate.value
        for opened in run.opened.ceilings
        for ceiling in opened.summary.ceilings
        for rate in ceiling.rates
    }
    own = found.set_index(["system", "figure"])
    assert len(rates) == 4 and any(rates.values())
    for key, value in rates.items():
        assert own["value"][key] == value or (value is None and own["reason"][key])


def test_a_step_of_mixed_traffic_has_a_row_for_each_application() -> None:
    step = Step(flows_per_second=100, started=99, table_full=False, whole={"web": 1.0, "dns": None})
    figures = registry.computed(registry.OF_MIX_STEPS, step)
    mix = MixResult(
        server="dut/nftables",
        steps=[MixStepResult(flows_per_second=100, figures=figures)],
        figures={},
        sentence="",
    )
    summary = EventSummary(
        run="mix",
        title="",
        state="complete",
        machine={},
        mixes=[mix],
        events=[],
        left_out=[],
        trials=[],
    )
    opened = OpenedRuns()
    opened.add(Manifest(run="mix"), summary)
    mixes = Run(opened, []).figures
    assert mixes[["offered_cps", "figure"]].values.tolist() == [
        [100, "mix.started"],
        [100, "mix.whole.web"],
        [100, "mix.whole.dns"],
        [100, "mix.table_full"],
    ]
    assert mixes["value"].isna().tolist() == [False, False, True, False]


def test_published_numbers_and_what_was_measured_of_the_same_shape(everything: Run) -> None:
    printed, here = everything.published, everything.published_matches
    tables = {
        (document.title, table.name)
        for document in everything.documents
        for table in document.tables
    }
    assert set(zip(here["document"], here["table"], strict=True)) == tables
    assert (here["ratio"].isna() == (here["reason"] != "")).all()
    assert set(printed["table"]) <= set(here["table"])
    known = here.dropna(subset="value")
    assert (known["low"] <= known["value"]).all() and (known["value"] <= known["high"]).all()
