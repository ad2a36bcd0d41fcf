"""What is said of counted runs: each difference beyond that of boots is told, and nothing timed."""

import io
from pathlib import Path

import pytest
from rich.console import Console

import stackcost
from stackcost.analysis.readings import Readings
from stackcost.analysis.summary import Summary
from stackcost.analysis.trial.flags import flags_of
from stackcost.report.counted import counted_tables
from stackcost.report.difference import Side, difference, difference_table, sentence
from stackcost.report.notebook import fitting
from stackcost.report.results.computed import current, summarise_again
from stackcost.report.results.opened import open_runs
from stackcost.report.run_trend import run_trends
from stackcost.report.terminal import print_long
from tests.report.cells import shown
from tests.report.counted import CONNECTIONS, store_counted, trial

NGINX, OTHER = "nginx/kernel", "lighttpd-nss/kernel"


@pytest.mark.parametrize(
    ("more", "facts"),
    [
        ((550, 560), ("different: instructions at 500/s +0.50%", "differ by at most 0.2%")),
        ((120, 130), ("no difference shown: instructions at 500/s +0.10%", "at most 0.2%")),
        ((0, 3000), ("cannot tell: instructions at 500/s +1.35%", "count again")),
    ],
)
def test_a_difference_is_told_where_boots_of_one_system_differ_by_less(
    more: tuple[int, ...], facts: tuple[str, str], tmp_path: Path
) -> None:
    """Connections have so many more instructions than 110,000 in each round."""
    before = store_counted(tmp_path / "a", {NGINX: [0, 20]})
    after = store_counted(tmp_path / "b", {NGINX: list(more)})
    text = sentence(difference(Side.of(str(before.path)), Side.of(str(after.path))))
    assert text.startswith(facts[0]) and facts[1] in text


def test_two_systems_of_one_run_are_compared_by_counts_alone(tmp_path: Path) -> None:
    run = store_counted(tmp_path, {NGINX: [0, 10], OTHER: [2200, 2210]})
    found = difference(Side.of(f"{run.path}#{NGINX}"), Side.of(f"#{OTHER}", run_of=str(run.path)))
    assert [row[0] for row in difference_table(found, everything=False).rows] == ["instructions"]
    assert sentence(found).startswith("different: instructions at 500/s +2.00%; ")
    assert found.apart == ""


def test_the_tables_have_system_calls_where_any_were_counted(tmp_path: Path) -> None:
    """Runs of an older version have none."""
    called = store_counted(tmp_path / "a", {NGINX: [0]}, calls=2 * CONNECTIONS)
    summary = current(called)
    assert isinstance(summary, Summary)
    (*_, last) = counted_tables(summary, 9)
    assert (last.title, last.rows) == ("System calls of one connection", [("writev", "2")])
    without = current(store_counted(tmp_path / "b", {NGINX: [0]}))
    assert isinstance(without, Summary)
    assert "System calls" not in "".join(table.title for table in counted_tables(without, 9))


def test_missing_connections_are_told() -> None:
    assert flags_of(Readings(trial(NGINX, 1, 1), (1,))) == []
    seen = Readings(trial(NGINX, 1, 1, completed=480), (1,))
    assert flags_of(seen) == ["20 of 500 connections were not made"]


def test_another_kernel_of_the_guest_is_told_and_another_machine_is_not(tmp_path: Path) -> None:
    before = store_counted(tmp_path / "a", {NGINX: [0, 20]})
    after = store_counted(tmp_path / "b", {NGINX: [0, 20]}, kernel="6.12.1", processor="Other")
    found = difference(Side.of(str(before.path)), Side.of(str(after.path)))
    assert found.machine == ["kernel: 6.1.0-56-amd64 -> 6.12.1"]


def test_runs_of_two_machines_are_one_trend(tmp_path: Path) -> None:
    for root, processor in (("a", "One"), ("b", "Other")):
        summarise_again(store_counted(tmp_path / root, {NGINX: [0, 20]}, processor=processor))
        (tmp_path / "results").mkdir(exist_ok=True)
        next((tmp_path / root).iterdir()).rename(tmp_path / "results" / root)
    (trend,) = run_trends(tmp_path / "results").trends
    assert trend.of.figure == "instructions" and "a guest that counts" in str(trend.of)


def test_of_a_counted_run_no_table_of_times_is_printed(tmp_path: Path) -> None:
    run = store_counted(tmp_path, {NGINX: [0, 20]})
    printed = io.StringIO()
    print_long(current(run), Console(file=printed, width=200))
    assert "microseconds" not in printed.getvalue() and "Latency" not in printed.getvalue()


def test_the_library_has_counts_by_system_and_function(tmp_path: Path) -> None:
    run = store_counted(tmp_path, {NGINX: [0, 10], OTHER: [2200, 2210]})
    counts = stackcost.open(run.path).counts
    own = counts[(counts["side"] == "server") & (counts["round"] == 1)]
    table = own.pivot_table("instructions", "function", "system", "sum")
    assert table.loc["tcp_ack"].to_dict() == {NGINX: 60_000, OTHER: 60_000}
    assert table.loc["nf_hook_slow", OTHER] == 2200
    assert own.groupby("system")["instructions"].sum().to_dict() == {NGINX: 110_000, OTHER: 112_200}
    assert set(own[own["function"] == "tcp_ack"]["category"]) == {"TCP"}


def test_the_notebook_answers_and_draws_functions_by_system(tmp_path: Path) -> None:
    run = store_counted(tmp_path, {NGINX: [0, 10], OTHER: [2200, 2210]})
    answer, categories, functions, *tables = shown("counted_cost", [run.path])
    whole, parts = answer.split("\n\n")
    assert whole == (
        "**Instructions of one connection: 110,005 (110,000-110,010) on nginx/kernel; "
        "112,205 (112,200-112,210) on lighttpd-nss/kernel, 1.02 times as many.**"
    )
    assert "on nginx/kernel: TCP 90,0" in parts and "netfilter and connection tracking" in parts
    assert "<svg" in categories and "netfilter and connection tracking" in categories
    assert "<svg" in functions and "nf_hook_slow" in functions and OTHER in functions
    assert "Instructions of one connection by function" in "".join(tables)


def test_the_report_of_a_counted_run_has_its_notebook_and_none_of_times(tmp_path: Path) -> None:
    run = store_counted(tmp_path, {NGINX: [0, 10], "astf-peer": [0, 10]})
    summarise_again(run)
    assert fitting(open_runs([run.path])) == ["counted_cost", "trust"]
