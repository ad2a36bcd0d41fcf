"""Notebooks on HTTP clients and on paths: the answer first, then the plot and the table."""

import io
import re

from rich.console import Console

from stackcost.contracts.trial import Trial
from stackcost.report.notebook import fitting
from stackcost.report.terminal import print_screen
from tests.analysis.http_trials import asked, cached, summary
from tests.analysis.test_http_costs import of, tls_tests, version
from tests.analysis.test_paths import ROUTER, load, paths, summary_of
from tests.report.cells import shown
from tests.report.opened import opened


def test_past_the_ceiling_the_answer_comes_first_and_the_plot_next() -> None:
    results = summary(
        asked("h2load", 100, "rates", 1000, 1000), asked("h2load", 100, "rates", 4000, 1500)
    )
    answer, plot, *tables = shown("past_ceiling", opened(results))
    assert answer.startswith("**haproxy/kernel: 4,000") and "<svg" in plot
    assert len(tables) == 2 and "scheduled, not answered" in tables[0]


def test_a_cache_says_how_long_its_event_loop_was_blocked() -> None:
    answer, plot, table = shown("disk_cache", opened(summary(cached())))
    assert answer.startswith("**The event loop was blocked: mix: haproxy/kernel 3.00%")
    assert "<svg" in plot and "event loop blocked" in plot
    assert "20.00%" in table, "of the pool of threads"
    assert "aio-dlb" in table and "not measured: it lacks a device" in table


TLS = of({"nginx/kernel": tls_tests(500, 0.2), "lean": tls_tests(90, 0.5)}).model_copy(
    update={"tests_not_measured": {"lean, new-3": "it is built without QUIC"}}
)
VERSIONS = of({"caddy": version("1.1", 50, 300, 100_000) + version("3", 100, 600, 0)})


def test_tls_answers_first_and_draws_handshakes_by_kind_of_cpu() -> None:
    answer, plot, table, missing, per_byte, *_ = shown("tls", opened(TLS))
    assert answer.startswith(
        "**A full TLS handshake takes 630 us of the server's CPU on nginx/kernel and 200 us on "
        "lean**; a resumed one takes 105 us on nginx/kernel"
    )
    assert answer.count("a resumed one takes") == 1
    assert "<svg" in plot and "lean, resumed handshake" in plot and "user" in plot
    assert "(600-660)" in table and "kilobyte over TLS" in table
    assert "new-3" in missing and "built without QUIC" in missing
    assert "<svg" in per_byte and "lean, request over TLS" in per_byte


def test_versions_answer_first_and_draw_requests_and_connections() -> None:
    answer, requests, connections, table, *_ = shown("http_versions", opened(VERSIONS))
    assert answer.startswith("**caddy: a request takes 47.2 us over HTTP/1.1 and 99.8 us over")
    assert "<svg" in requests and "caddy, HTTP/3" in requests and "per request" in requests
    assert "<svg" in connections and "per connection" in connections
    assert "1,000" in table and "+96.8%" in table, "bytes and a change from HTTP/1.1"


def test_each_is_in_the_report_of_its_runs_alone_and_on_the_terminal() -> None:
    assert fitting(opened(TLS))[0] == "tls" and fitting(opened(VERSIONS))[0] == "http_versions"
    assert "http_versions" not in fitting(opened(TLS)) and "tls" not in fitting(opened(VERSIONS))
    for costs, begins in ((TLS, "A full TLS handshake"), (VERSIONS, "caddy: a request takes")):
        screen = io.StringIO()
        print_screen(costs, Console(file=screen, width=200))
        assert screen.getvalue().startswith(begins)


def test_the_answer_comes_first_and_the_waterfall_next() -> None:
    answer, plot, table, *_ = shown("paths", opened(summary_of(paths())))
    assert answer.startswith(
        "**A connection takes 80 us of CPU on the bare server; dut/proxy_nginx adds 190 us; "
        "dut/forwarding adds 20.0 us"
    )
    assert "<svg" in plot and "dashed: the bare server" in plot
    assert re.search(r">270<", plot) and re.search(r">100<", plot), "the whole of each path"
    assert "bare server" in table and "+237.5%" in table and "dut/forwarding" in table


def of_rules() -> list[Trial]:
    """A router whose path takes 40 ns more for each of its rules."""
    return [
        load(f"dut/service_iptables:{rules}-rules", ROUTER | {"softirq": 60.0 + 0.04 * rules},
             60.0, number, 1000)
        for number in (1, 2) for rules in (0, 1000, 4000)
    ]  # fmt: skip


def test_a_list_of_rules_is_drawn_with_its_line_and_its_table() -> None:
    trials = paths() + of_rules()
    outputs = shown("paths", opened(summary_of(trials)))
    assert any("40.0 ns per rule" in output and "<svg" in output for output in outputs)
    assert any("ns per rule (95 % interval)" in output for output in outputs)


def test_lists_of_rules_alone_are_answered_too() -> None:
    runs = opened(summary_of(of_rules()))
    assert fitting(runs)[0] == "paths"
    outputs = shown("paths", runs)
    assert outputs[0].startswith("**A rule of dut/service_iptables costs 40.0 ns")
    assert any("<svg" in output for output in outputs)


def test_it_is_in_the_report_of_paths_alone_and_on_the_terminal() -> None:
    whole = summary_of(paths())
    assert fitting(opened(whole))[0] == "paths", "its answer is the first sentence"
    without = summary_of([trial for trial in paths() if trial.server != "dut/wire"])
    assert "paths" not in fitting(opened(without))
    screen = io.StringIO()
    print_screen(whole, Console(file=screen, width=200))
    assert screen.getvalue().startswith("A connection takes 80 us of CPU on the bare server; ")
