"""A figure beside a published one has a ratio only where nothing else set it; the cell says why."""

import pytest

from stackcost.contracts.load import HttpClients
from stackcost.contracts.system import System
from stackcost.report.http_figures import series
from stackcost.report.http_tables import result_tables
from stackcost.report.published.document import documents
from stackcost.report.published.match import matches
from stackcost.report.published.tables import conditions_here
from stackcost.report.results.opened import OpenedCosts, OpenedRuns
from tests.analysis.http_trials import asked, summary
from tests.published.made import ANSWERED, manifest, run_of, searched, told


def test_gains_are_over_the_first_row_that_both_have() -> None:
    names = System.of("haproxy/kernel", {"workers": 2}), System.of("haproxy/kernel", {"workers": 8})
    runs = run_of(*names, measures="requests", body=1024)
    found = matches(documents()["haproxy_cookbook"], runs)
    two, eight = (each for each in found if each.table == "Table 2" and each.value)
    assert (two.x, two.gain, two.published_gain) == (2, None, None)
    assert eight.x == 8
    assert eight.gain == pytest.approx(2), "the second one answered twice as many"
    assert eight.published_gain == pytest.approx(318 / 80)


def test_variants_of_one_system_are_divided_by_their_own_first_row_alone() -> None:
    names = [
        System.of("haproxy/kernel", {"tuning": tier, "workers": n})
        for tier in ("apart", "near")
        for n in (2, 8)
    ]
    found = matches(documents()["haproxy_cookbook"], run_of(*names, measures="requests", body=1024))
    gains = [each.gain for each in found if each.table == "Table 2" and each.value]
    assert gains == [None, None, pytest.approx(2), pytest.approx(4 / 3)]


@pytest.mark.parametrize("tcp", ["today", "published"])
def test_other_settings_of_tcp_have_no_ratio_and_the_cell_says_so(tcp: str) -> None:
    found, cell, ratio = told("trex_nginx", "Total-CPS, Kcps", searched(tcp=tcp))
    assert (found.published, found.value) == (90.87, 9)
    if tcp == "published":
        assert found.ratio == pytest.approx(9 / 90.87) and ratio == "0.099" and ";" not in cell
    else:
        assert found.ratio is None and ratio == ""
        assert "TCP with initial window 10, without Nagle instead of initial window 2" in cell


def test_a_link_with_loss_and_one_listening_socket_are_marked_as_well() -> None:
    lossy = searched(tcp="published")
    lossy.costs.clear()
    lossy.ceilings[0].manifest.experiment["network"]["loss"] = 0.01
    found, cell, _ = told("trex_nginx", "Total-CPS, Kcps", lossy)
    assert found.ratio is None and "over a link with 0.01-loss" in cell
    runs = run_of(
        System.of("nginx/kernel", {"reuseport": False, "workers": 4}), measures="requests", body=0
    )
    found, cell, _ = told("nginx_cookbook", "Kernel", runs)
    assert found.ratio is None and "one listening socket of all workers" in cell


@pytest.mark.parametrize(
    ("busy", "limit"),
    [
        ((1.0, 0.6), "the clients were the limit"),
        ((0.2, 0.1), "the connections waited for something else"),
        ((0.9, 1.0), ""),
    ],
)
def test_what_the_server_did_not_set_has_no_ratio(busy: tuple[float, float], limit: str) -> None:
    names = (
        System.of("nginx/kernel", {"workers": 1}),
        System.of("nginx/onload-balanced", {"workers": 1}),
    )
    runs = run_of(*names, measures="throughput", body=1_000_000, busy=busy)
    found, cell, ratio = told("nginx_cookbook", "Kernel", runs)
    assert found.published == 22.68 and (found.ratio is None) == bool(limit)
    assert limit in cell and bool(ratio) == (not limit)
    of = runs.costs[0].summary  # the terminal has this table
    (table,) = result_tables(series(of), of)
    assert ("*: the server did not set this rate" in table.title) == bool(limit)
    assert all(cell.endswith(" *") == bool(limit) for cell in table.rows[0][3:5])


@pytest.mark.parametrize("others", [0.05, 0.48])
def test_a_core_that_others_took_half_of_was_not_the_servers(others: float) -> None:
    """It is full, and so are the clients': nothing else tells that the rate is not nginx's."""
    runs = run_of(
        System.of("nginx/kernel", {"workers": 1}), measures="requests", body=0, others=others
    )
    found, cell, _ = told("nginx_cookbook", "Kernel", runs)
    assert (found.ratio is None) == (others > 0.1)
    assert cell.endswith("; other programs took 48% of the server's cores") == (others > 0.1)


def test_a_ceiling_that_may_be_higher_has_no_ratio() -> None:
    runs = searched(at_least="the generator was full", tcp="published")
    found, cell, _ = told("trex_nginx", "Total-CPS, Kcps", runs)
    assert found.ratio is None and cell.endswith("; the generator was full")


def test_the_caches_log_is_of_one_of_three_clients_at_once() -> None:
    runs = run_of(
        System.of("nginx-cache/kernel", {"tuning": "aio-off"}), measures="requests", body=1_048_576
    )
    found, cell, _ = told("nginx_dlb", "latency", runs)
    assert found.ratio is None
    assert "beside no other clients instead of clients of 100,000 and 10,000 bytes" in cell
    runs = run_of(
        System.of("nginx-cache/kernel", {"tuning": "aio-off"}),
        measures="requests",
        body=1_048_576,
        beside=[100_000, 10_000],
    )
    found, cell, ratio = told("nginx_dlb", "latency", runs)
    assert found.ratio and ratio and ";" not in cell
    places = [e.x for e in matches(documents()["nginx_dlb"], runs) if e.value is not None]
    assert len(places) == len(set(places)), "each percentile once, though bits are shown as well"


def test_a_summary_that_names_no_rounds_is_read_as_well() -> None:
    runs = run_of(
        System.of("nginx/kernel", {"workers": 1}), measures="requests", body=0, busy=(1.0, 0.5)
    )
    figures = runs.costs[0].summary.servers[0].levels[0].figures
    for name in ("http.clients_busy", "http.server_busy", "http.others_busy"):
        figures[name] = figures[name].model_copy(update={"rounds": []})
    found, cell, _ = told("nginx_cookbook", "Kernel", runs)
    assert found.ratio is None and "the clients were the limit" in cell


def test_one_worker_where_a_table_begins_at_two_has_a_ratio_that_says_so() -> None:
    runs = run_of(System.of("haproxy/kernel", {"workers": 1}), measures="connections", body=0)
    found = next(e for e in matches(documents()["haproxy_cookbook"], runs) if e.value is not None)
    assert (found.published, found.x, found.gain) == (None, 1, None)
    assert found.ratio == pytest.approx(50 / 39)
    assert found.reason == (
        "no row for 1 worker process; 39 for 2 worker processes, which the ratio is to"
    )
    limited = run_of(
        System.of("haproxy/kernel", {"workers": 1}), measures="connections", body=0, busy=(1.0, 0.5)
    )
    found = next(e for e in matches(documents()["haproxy_cookbook"], limited) if e.value)
    assert found.ratio is None


def test_one_worker_whose_core_others_took_says_why_it_has_no_ratio() -> None:
    one = System.of("haproxy/kernel", {"workers": 1})
    runs = run_of(one, measures="connections", body=0, others=0.48)
    found = next(e for e in matches(documents()["haproxy_cookbook"], runs) if e.value is not None)
    assert found.ratio is None and "no row for 1 worker process" in found.reason
    assert found.reason.endswith("; other programs took 48% of the server's cores")


def test_latency_stands_beside_the_row_at_the_same_share_of_the_ceiling() -> None:
    """The print's kernel keeps 1,000,000 requests/s; the closed loop here had 50,000."""
    made = []
    for name, offered in (("closed", 0.0), ("open", 5_000.0), ("open", 70_000.0), ("open", 3.0)):
        trial = asked("h2load", 100, name, offered, ANSWERED)
        assert isinstance(trial.load, HttpClients) and trial.load.settings
        trial.load.settings.body_bytes = [1024]
        made.append(trial)
    runs = OpenedRuns(costs=[OpenedCosts(manifest(), summary(*made))])
    found = {
        each.x: each
        for each in matches(documents()["haproxy_cookbook"], runs)
        if each.table == "Table 4" and each.value is not None
    }
    assert [found[x].published for x in (3.0, 5_000.0, 70_000.0)] == [None, 2150, 8_830_000]
    assert "at 10% of the ceiling here, there at 10% of it (100,000 req" in found[5_000.0].reason
    assert found[70_000.0].reason.endswith("(1,500,000 requests/s)"), "written out"
    assert found[70_000.0].published_gain == pytest.approx(8_830_000 / 2150)
    assert found[70_000.0].gain == 1 and found[70_000.0].ratio is None


@pytest.mark.parametrize("waited_s", [0.0, 5.0])
def test_above_the_tables_stands_whether_the_machine_was_busy(waited_s: float) -> None:
    """Its figures have a ratio as others have, which is then of a busy machine."""
    trial = asked("wrk", 50, "made", 0, ANSWERED)
    trial.load.waited_s = waited_s
    made = manifest(cores={"load": [0], "server": [1]})
    runs = OpenedRuns(costs=[OpenedCosts(made, summary(trial))])
    assert ("1 of 1 trial was disturbed" in conditions_here(runs)) == bool(waited_s)


def test_a_share_of_the_ceiling_that_is_not_printed_is_told() -> None:
    made = [asked("h2load", 100, n, at, ANSWERED) for n, at in (("closed", 0), ("open", 200_000))]
    for trial in made:
        trial.load.settings.body_bytes = [1024]
    found = matches(
        documents()["haproxy_cookbook"],
        OpenedRuns(costs=[OpenedCosts(manifest(), summary(*made))]),
    )
    (ours,) = (each for each in found if each.table == "Table 4" and each.x == 200_000)
    assert ours.reason == "no row for 200,000 requests/s, nor at 400% of the ceiling, as it is here"
