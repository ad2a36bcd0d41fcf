"""A figure of ours joins a published one only if system, stack, test, axis and TLS agree."""

import pytest

from stackcost.contracts.system import System
from stackcost.experiment.read_file import read_experiment
from stackcost.files import EXPERIMENTS
from stackcost.report.published.document import Document, documents
from stackcost.report.published.match import NO_FIGURE, comparable, matches
from stackcost.report.published.tables import not_measured
from stackcost.report.results.opened import OpenedRuns
from tests.published.made import ANSWERED, BITS, joined, lacking, reasons, run_of, searched


def test_a_proxys_connections_stand_in_the_proxys_table_alone() -> None:
    runs = run_of("haproxy/kernel", measures="connections", body=0)
    assert joined("nginx_cookbook", runs) == {}
    runs = run_of(System.of("haproxy/kernel", {"workers": 8}), measures="connections", body=0)
    (found,) = joined("haproxy_cookbook", runs).values()
    assert (found.table, found.column, found.x) == ("Table 1", "Kernel", 8)
    assert found.value == pytest.approx(ANSWERED / 1000), "the table counts thousands"
    assert found.published == 150 and found.ratio == pytest.approx(50 / 150)


def test_each_stack_stands_in_its_own_column() -> None:
    runs = run_of("nginx/onload-balanced", measures="requests", body=1000)
    found = joined("nginx_cookbook", runs)
    assert {name: each.column for name, each in found.items()} == {
        "Table 4": "Onload balanced",
        "Table 13": "Onload balanced",
    }


def test_another_length_joins_nothing_and_says_so() -> None:
    runs = run_of(System.of("haproxy/kernel", {"workers": 2}), measures="requests", body=1000)
    assert joined("haproxy_cookbook", runs) == {}
    why = reasons("haproxy_cookbook", runs)["Table 2"]
    assert "responses of 1,000 bytes instead of 1,024 bytes" in why


def test_tls_joins_only_where_the_print_may_mean_tls() -> None:
    """Of its transactions the cookbook prints a command over https, and a script over http."""
    for tls in (False, True):
        runs = run_of("nginx/kernel", measures="connections", body=0, tls=tls)
        assert set(joined("nginx_cookbook", runs)) == {"Table 2", "Table 11"}
    runs = run_of("nginx/kernel", measures="requests", body=0, tls=True)
    assert joined("nginx_cookbook", runs) == {}
    assert "over TLS" in reasons("nginx_cookbook", runs)["Table 3"]


def test_clients_on_the_servers_cores_join_nothing() -> None:
    runs = run_of("nginx/kernel", measures="requests", body=0, shared=True)
    assert joined("nginx_cookbook", runs) == {}


def test_a_search_with_an_offered_load_is_no_closed_loop_of_clients() -> None:
    runs = searched(system="nginx/kernel")
    assert joined("nginx_cookbook", runs) == {}
    why = reasons("nginx_cookbook", runs)["Table 2"]
    assert "load by an ASTF profile instead of HTTP clients" in why
    beside = matches(documents()["trex_nginx"], runs)
    (ours,) = (each for each in beside if each.column == "nginx, new flows/s")
    assert ours.value == 9e3 and ours.published is None
    assert ours.reason.startswith("no row for 2 cores; 20,000 for 16 cores; TCP with settings that")


def test_latency_stands_at_the_rate_that_was_offered() -> None:
    runs = run_of("haproxy/kernel", measures="latency", body=1024, offered=100_000.0)
    (found,) = joined("haproxy_cookbook", runs).values()
    assert found.table == "Table 4" and found.x == 100_000
    closed = run_of("haproxy/kernel", measures="latency", body=1024)
    assert joined("haproxy_cookbook", closed) == {}, "a closed loop"


def test_a_rate_that_is_not_printed_stands_alone_and_says_so() -> None:
    runs = run_of("haproxy/kernel", measures="latency", body=1024, offered=4000.0)
    found = matches(documents()["haproxy_cookbook"], runs)
    (ours,) = (each for each in found if each.value is not None)
    assert (ours.table, ours.x, ours.published) == ("Table 4", 4000, None)
    assert ours.reason.startswith("no row for 4,000 requests/s; ")


def test_throughput_is_in_the_bits_that_the_table_counts() -> None:
    runs = run_of("nginx/kernel", measures="throughput", body=100_000)
    found = joined("nginx_cookbook", runs)
    assert set(found) == {"Table 7", "Table 16"}
    for each in found.values():
        assert each.value == pytest.approx(BITS / (1000 * 2**20))


@pytest.mark.parametrize("name", documents())
def test_every_table_without_ours_says_why(name: str) -> None:
    document: Document = documents()[name]
    found = matches(document, OpenedRuns())
    assert list(dict.fromkeys(each.table for each in found)) == [t.name for t in document.tables]
    told = reasons(name, OpenedRuns())
    for table in document.tables:
        measurable = any(document.figures(table))
        assert measurable == ("to measure it: stackcost " in told[table.name])
        assert (table.here or measurable or NO_FIGURE) in (True, told[table.name].split("\n")[-1])


def test_a_column_that_this_machine_could_not_measure_says_why() -> None:
    runs = run_of(System.of("nginx/kernel", {"workers": 1}), measures="connections", body=0)
    runs.costs[0].summary.not_measured.append(
        lacking("nginx/onload-balanced", {"workers": 1}, "Onload is not installed")
    )
    found = [
        each for each in matches(documents()["nginx_cookbook"], runs) if each.table == "Table 2"
    ]
    assert [(each.column, each.published) for each in found] == [
        ("Kernel", 35890.70),
        ("Onload balanced", None),
        ("Onload performance", None),
    ]
    assert found[1].reason == "not measured: Onload is not installed"
    assert "these runs measured no connections of nginx/onload-performance" in found[2].reason


def test_a_searched_rate_stands_as_payload_beside_a_rate_of_bits() -> None:
    beside = matches(documents()["trex_nginx"], searched())
    values = {each.column: each.value for each in beside if each.published}
    assert values["Total-CPS, Kcps"] == pytest.approx(9)
    assert values["TRex, Gb/s on one core"] == pytest.approx(9e3 * 32000 * 8 / 1e9)


def test_a_tier_that_could_not_be_measured_hides_no_other_tier() -> None:
    runs = run_of(
        System.of("nginx-cache/kernel", {"tuning": "aio-off"}), measures="requests", body=1000
    )
    runs.costs[0].summary.not_measured.append(
        lacking("nginx-cache/kernel", {"tuning": "aio-dlb"}, "it needs a device")
    )
    assert "it needs a device" not in reasons("nginx_dlb", runs)["Example log"]


def test_cores_for_a_link_are_of_new_connections_by_the_papers_own_full_link() -> None:
    runs = run_of(System.of("nginx/kernel", {"cores": 2}), measures="connections", body=10000)
    found = matches(documents()["nginx_white_paper"], runs)
    (ours,) = (each for each in found if each.value is not None)
    assert (ours.column, ours.published) == ("cores for 10 Gb/s, kernel", 6)
    assert ours.value == pytest.approx(2 * 111_600 / ANSWERED), "and not by bits of a line"


@pytest.mark.parametrize("cores", [2, 4, 12])
def test_a_full_links_figure_stands_at_every_number_of_cores_that_fills_it(cores: int) -> None:
    runs = run_of(
        System.of("nginx/onload-white-paper", {"cores": cores}), measures="connections", body=10000
    )
    found = matches(documents()["nginx_white_paper"], runs)
    (ours,) = (each for each in found if each.column == "Onload, highest connections/s")
    assert (ours.x, ours.published) == (cores, 111_600)
    one = run_of(
        System.of("nginx/onload-white-paper", {"cores": 1}), measures="connections", body=10000
    )
    found = matches(documents()["nginx_white_paper"], one)
    (ours,) = (each for each in found if each.column == "Onload, highest connections/s")
    assert ours.published is None and ours.reason == "no row for 1 core; 111,600 for 2 cores"


def test_a_figure_over_tls_joins_only_with_the_same_certificate_and_full_handshakes() -> None:
    def over_tls(certificate: str, resumed: bool = False) -> OpenedRuns:
        system = System.of("nginx/kernel", {"certificate": certificate, "workers": 1})
        return run_of(system, measures="requests", body=0, tls=True, resumed=resumed)

    def why(runs: OpenedRuns) -> str:
        return reasons("nginx_tested", runs)[table]

    table = "RPS for HTTPS, 0 KB"
    found = joined("nginx_tested", over_tls("rsa-2048"))[table]
    assert found.published == 71_561 and found.x == 1
    assert "a certificate of p-256 instead of rsa-2048" in why(over_tls("p-256"))
    assert "resumed handshakes instead of full" in why(over_tls("rsa-2048", resumed=True))


def test_an_astf_run_over_tls_is_not_the_published_one() -> None:
    runs = searched(tcp="published")
    runs.ceilings[0].manifest.experiment["load"] = {"tls": {"version": "1.3"}}
    assert joined("trex_nginx", runs) == {}
    assert "over TLS" in reasons("trex_nginx", runs)["Global statistics"]


def test_a_page_has_the_documents_that_its_runs_can_be_compared_with() -> None:
    every = documents()
    names = {each.title: name for name, each in every.items()}

    def shown(runs: OpenedRuns) -> set[str]:
        return {names[each.title] for each in comparable(list(every.values()), runs)}

    runs = run_of(System.of("nginx/kernel", {"workers": 1}), measures="requests", body=10_000)
    assert shown(runs) == {"nginx_cookbook", "nginx_tested"}
    assert shown(run_of("haproxy/kernel", measures="connections", body=0)) == {"haproxy_cookbook"}
    assert shown(searched()) == {"trex_nginx"}
    assert shown(run_of("nginx-cache/kernel", measures="requests", body=9)) == {"nginx_dlb"}
    assert shown(OpenedRuns()) == set()


def test_the_experiments_that_a_page_names_measure_what_it_misses() -> None:
    """A page shall not advise a run that has no test of the length it asks for."""
    plan = read_experiment(EXPERIMENTS / "cdn_cache.yaml", quick=True).http
    assert plan
    document = documents()["nginx_dlb"]
    (log,) = (each for each in document.tables if each.name == "Example log")
    alike = [each.name for each in plan.tests if tuple(each.body_bytes) == log.lengths]
    assert alike == ["large", "connect"], "latency, and the times to connect and to the first byte"
    assert all(tuple(plan.test(name).beside) == log.beside for name in alike)
    assert plan.program_of(plan.test("connect")) == "ab", "which prints the two"
    figures = [figure for table in document.tables for figure in document.figures(table)]
    assert all(figure.of.axis for figure in figures), "none that no run can have"


@pytest.mark.parametrize("name", documents())
def test_no_claim_is_told_as_a_failure_and_no_condition_is_empty(name: str) -> None:
    document = documents()[name]
    assert document.conditions
    assert not_measured(matches(document, OpenedRuns())) == []
    assert not any(each.here.startswith("not measured") for each in document.tables)


@pytest.mark.parametrize(("connections", "tables"), [(100, {"Table 4"}), (500, set())])
def test_other_numbers_of_connections_are_other_measurements(
    connections: int, tables: set[str]
) -> None:
    """Of open-500 and open-2000 the latency is of their queues and not of the printed load."""
    many = {"offered": 100_000.0, "measures": "latency", "body": 1024, "connections": connections}
    runs = run_of("haproxy/kernel", **many)
    assert set(joined("haproxy_cookbook", runs)) == tables
    why = reasons("haproxy_cookbook", runs)["Table 4"]
    assert ("500 connections of each client instead of 100" in why) == (connections == 500)
