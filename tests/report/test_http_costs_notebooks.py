"""The notebooks on TLS and on versions of HTTP: the answer first, then the plot and the table."""

import io

from rich.console import Console

from stackcost.report.notebook import fitting
from stackcost.report.terminal import print_screen
from tests.analysis.test_http_costs import of, tls_tests, version
from tests.report.cells import shown
from tests.report.test_http_notebooks import opened

TLS = of({"nginx/kernel": tls_tests(500, 0.2), "lean": tls_tests(90, 0.5)}).model_copy(
    update={"tests_not_measured": {"lean, new-3": "it is built without QUIC"}}
)
VERSIONS = of({"caddy": version("1.1", 50, 300, 100_000) + version("3", 100, 600, 0)})


def test_tls_answers_first_and_draws_handshakes_by_kind_of_cpu() -> None:
    answer, plot, table, missing, per_byte, *_ = shown("tls", opened(TLS))
    assert answer.startswith("**A full TLS handshake takes 630 us of the server's CPU on nginx/")
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
    for summary, begins in ((TLS, "A full TLS handshake"), (VERSIONS, "caddy: a request takes")):
        screen = io.StringIO()
        print_screen(summary, Console(file=screen, width=200))
        assert screen.getvalue().startswith(begins)
