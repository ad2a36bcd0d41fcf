"""The notebook on paths: its answer first, then the waterfall, and each part's figures."""

import io
import re

from rich.console import Console

from stackcost.report.notebook import fitting
from stackcost.report.terminal import print_screen
from tests.analysis.test_paths import ROUTER, load, paths, summary_of
from tests.report.cells import shown
from tests.report.test_http_notebooks import opened


def test_the_answer_comes_first_and_the_waterfall_next() -> None:
    answer, plot, table, *_ = shown("paths", opened(summary_of(paths())))
    assert answer.startswith(
        "**A connection takes 80 us of CPU on the bare server; dut/proxy_nginx adds 190 us; "
    )
    assert "<svg" in plot and "dashed: the bare server" in plot
    assert re.search(r">270<", plot) and re.search(r">100<", plot), "the whole of each path"
    assert "bare server" in table and "+237.5%" in table


def test_a_list_of_rules_is_drawn_with_its_line_and_its_table() -> None:
    trials = paths() + [
        load(f"dut/service_iptables:{rules}-rules", ROUTER | {"softirq": 60.0 + 0.04 * rules},
             60.0, number, 1000)
        for number in (1, 2) for rules in (0, 1000, 4000)
    ]  # fmt: skip
    outputs = shown("paths", opened(summary_of(trials)))
    assert any("40.0 ns per rule" in output and "<svg" in output for output in outputs)
    assert any("ns per rule (95 % interval)" in output for output in outputs)


def test_lists_of_rules_alone_are_answered_too() -> None:
    trials = [
        load(f"dut/service_iptables:{rules}-rules", ROUTER | {"softirq": 60.0 + 0.04 * rules},
             60.0, number, 1000)
        for number in (1, 2) for rules in (0, 1000, 4000)
    ]  # fmt: skip
    runs = opened(summary_of(trials))
    assert fitting(runs)[0] == "paths"
    outputs = shown("paths", runs)
    assert outputs[0].startswith("**A rule of dut/service_iptables costs 40.0 ns")
    assert any("<svg" in output for output in outputs)


def test_it_is_in_the_report_of_paths_alone_and_on_the_terminal() -> None:
    summary = summary_of(paths())
    assert fitting(opened(summary))[0] == "paths", "its answer is the first sentence"
    without = summary_of([trial for trial in paths() if trial.server != "dut/wire"])
    assert "paths" not in fitting(opened(without))
    screen = io.StringIO()
    print_screen(summary, Console(file=screen, width=200))
    assert screen.getvalue().startswith("A connection takes 80 us of CPU on the bare server; ")
