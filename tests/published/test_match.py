"""A figure of ours joins a published one only if system, stack, test, axis and TLS agree."""

from collections.abc import Sequence
from typing import Any

import pytest

from stackcost.analysis.ceiling.summary import Ceiling, CeilingSummary, Rate
from stackcost.contracts.load import HttpClients
from stackcost.contracts.sample import Sample
from stackcost.contracts.system import NotMeasured, System
from stackcost.experiment.read_file import read_experiment
from stackcost.files import EXPERIMENTS
from stackcost.published.document import Document, documents
from stackcost.published.match import NO_FIGURE, PublishedMatch, comparable, matches
from stackcost.published.tables import conditions_here, matches_table, not_measured
from stackcost.report.http import result_tables, series
from stackcost.report.opened import OpenedCeilings, OpenedCosts, OpenedRuns
from stackcost.store import Manifest
from tests.analysis.http_trials import asked, summary
from tests.analysis.trials import END, START, counter

ANSWERED = 50_000.0  # requests/s
BITS = 8e9  # per second
ONE_CORE = System.of("astf-peer", {"cores": 1})
SEARCHED = [ONE_CORE, System.of("nginx/kernel")]


def run_of(
    *servers: str | System,
    measures: str,
    body: int,
    offered: float = 0.0,
    tls: bool = False,
    shared: bool = False,
    resumed: bool = False,
    busy: tuple[float, float] = (0.8, 1.0),
    beside: Sequence[int] = (),
    connections: int = 0,
    others: float = 0.0,
) -> OpenedRuns:
    """A run of one test of HTTP clients on each server; each answers more than the one before.

    `busy`: shares of the clients' and of the server's core. `connections`: of each client; 0: as
    many as the cookbook of the first server has. `others`: what other programs took of the server's
    core.
    """
    systems = [System.of(each) if isinstance(each, str) else each for each in servers]
    connections = connections or (100 if systems[0].server.startswith("haproxy") else 50)
    trials = []
    for times, system in enumerate(systems, 1):
        trial = asked("wrk", connections, "made", offered, times * ANSWERED)
        trial.server = system.name
        settings, counted = trial.load.settings, trial.load.counted
        settings.measures, settings.body_bytes, settings.beside = measures, [body], list(beside)
        settings.tls, settings.cores_shared, settings.resumed = tls, shared, resumed
        counted.rate, counted.bits_per_second = times * ANSWERED, BITS
        kept = [each for each in trial.samples if each.metric != "cpu.exact_time"]
        trial.samples = kept + busy_cores(*busy)
        who = {"cpu": "1", "process": "99", "thread": "99", "command": "cc1plus", "kind": "task"}
        trial.samples += counter("task.time", others * (END - START), who)
        trials.append(trial)
    return OpenedRuns(costs=[OpenedCosts(manifest(), summary(*trials, systems=systems))])


def busy_cores(*shares: float) -> list[Sample]:
    """Exact time of cores 0 (clients) and 1 (server) that were busy for these shares."""
    length = END - START
    found = []
    for cpu, share in enumerate(shares):
        for kind, part in (("user", share), ("idle", 1 - share)):
            labels = {"cpu": str(cpu), "kind": kind}
            found += counter("cpu.exact_time", part * length, labels)
    return found


def manifest(**workload: Any) -> Manifest:
    made: dict[str, Any] = {"nginx": {"workers": 4}, "cores": {"server": [1, 2]}}
    return Manifest(run="made", state="complete", experiment=made | workload, systems=SEARCHED)


def lacking(server: str, settings: dict[str, Any], why: str) -> NotMeasured:
    return NotMeasured(**System.of(server, settings).model_dump(), why=why)


def joined(document: str, runs: OpenedRuns) -> dict[str, PublishedMatch]:
    """Our figures beside printed ones, by table."""
    found = matches(documents()[document], runs)
    return {each.table: each for each in found if each.published is not None}


def reasons(document: str, runs: OpenedRuns) -> dict[str, str]:
    """Why columns of a table have none of ours, by table."""
    told: dict[str, str] = {}
    for each in matches(documents()[document], runs):
        if each.value is None:
            told[each.table] = f"{told.get(each.table, '')}\n{each.reason}"
    return told


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
    rate = Rate(name="NDR", loss_ratio=0.0, value=9e3, lower=8e3, upper=9e3)
    ceiling = Ceiling.model_construct(
        server="nginx/kernel", of="connections", rates=[rate], at_least=""
    )
    found = CeilingSummary.model_construct(run="made", ceilings=[ceiling])
    setup = manifest(workload={"response_bytes": 32000})
    runs = OpenedRuns(ceilings=[OpenedCeilings(setup, found)])
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


def test_gains_are_over_the_first_row_that_both_have() -> None:
    names = System.of("haproxy/kernel", {"workers": 2}), System.of("haproxy/kernel", {"workers": 8})
    runs = run_of(*names, measures="requests", body=1024)
    found = matches(documents()["haproxy_cookbook"], runs)
    two, eight = (each for each in found if each.table == "Table 2" and each.value)
    assert (two.x, two.gain, two.published_gain) == (2, None, None)
    assert eight.x == 8
    assert eight.gain == pytest.approx(2), "the second one answered twice as many"
    assert eight.published_gain == pytest.approx(318 / 80)


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
    rate = Rate(name="NDR", loss_ratio=0.0, value=9e3, lower=8e3, upper=9e3)
    ceiling = Ceiling.model_construct(
        server=ONE_CORE.name, of="connections", rates=[rate], at_least=""
    )
    found = CeilingSummary.model_construct(run="made", ceilings=[ceiling])
    setup = manifest(workload={"response_bytes": 32000})
    beside = matches(documents()["trex_nginx"], OpenedRuns(ceilings=[OpenedCeilings(setup, found)]))
    values = {each.column: each.value for each in beside if each.published}
    assert values["Total-CPS, Kcps"] == pytest.approx(9)
    assert values["TRex, Gb/s on one core"] == pytest.approx(9e3 * 32000 * 8 / 1e9)


def test_variants_of_one_system_are_divided_by_their_own_first_row_alone() -> None:
    names = [
        System.of("haproxy/kernel", {"tuning": tier, "workers": n})
        for tier in ("apart", "near")
        for n in (2, 8)
    ]
    found = matches(documents()["haproxy_cookbook"], run_of(*names, measures="requests", body=1024))
    gains = [each.gain for each in found if each.table == "Table 2" and each.value]
    assert gains == [None, None, pytest.approx(2), pytest.approx(4 / 3)]


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
    table = "RPS for HTTPS, 0 KB"
    runs = run_of(
        System.of("nginx/kernel", {"certificate": "rsa-2048", "workers": 1}),
        measures="requests",
        body=0,
        tls=True,
    )
    found = joined("nginx_tested", runs)[table]
    assert found.published == 71_561 and found.x == 1
    runs = run_of(
        System.of("nginx/kernel", {"certificate": "p-256", "workers": 1}),
        measures="requests",
        body=0,
        tls=True,
    )
    assert "a certificate of p-256 instead of rsa-2048" in reasons("nginx_tested", runs)[table]
    runs = run_of(
        System.of("nginx/kernel", {"certificate": "rsa-2048", "workers": 1}),
        measures="requests",
        body=0,
        tls=True,
        resumed=True,
    )
    assert "resumed handshakes instead of full ones" in reasons("nginx_tested", runs)[table]


def searched(at_least: str = "", **workload: Any) -> OpenedRuns:
    """A search of the peer on one core; 32,000 bytes."""
    rate = Rate(name="NDR", loss_ratio=0.0, value=9e3, lower=8e3, upper=9e3)
    ceiling = Ceiling.model_construct(
        server=ONE_CORE.name, of="connections", rates=[rate], at_least=at_least
    )
    found = CeilingSummary.model_construct(run="made", ceilings=[ceiling])
    setup = manifest(workload={"response_bytes": 32000} | workload)
    return OpenedRuns(ceilings=[OpenedCeilings(setup, found)])


def told(document: str, column: str, runs: OpenedRuns) -> tuple[PublishedMatch, str, str]:
    """A column's figure of ours, and its cells: measured here, and the ratio."""
    whole = documents()[document]
    found = next(e for e in matches(whole, runs) if e.column == column and e.value is not None)
    (row,) = matches_table(whole, [found]).rows
    return found, row[3], row[4]


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
    lossy.ceilings[0].manifest.experiment["network"] = {"loss": 0.01}
    found, cell, _ = told("trex_nginx", "Total-CPS, Kcps", lossy)
    assert found.ratio is None and "over a link with 0.01-loss" in cell
    runs = run_of(
        System.of("nginx/kernel", {"reuseport": False, "workers": 4}), measures="requests", body=0
    )
    found, cell, _ = told("nginx_cookbook", "Kernel", runs)
    assert found.ratio is None and "one listening socket of all workers" in cell


def test_an_astf_run_over_tls_is_not_the_published_one() -> None:
    runs = searched(tcp="published")
    runs.ceilings[0].manifest.experiment["load"] = {"tls": {"version": "1.3"}}
    assert joined("trex_nginx", runs) == {}
    assert "over TLS" in reasons("trex_nginx", runs)["Global statistics"]


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
    assert ("1 of 1 trial were disturbed" in conditions_here(runs)) == bool(waited_s)


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
