"""Published tables against their own data: a number that was taken over wrongly contradicts one."""

import math

import pytest

from stackcost.experiment.read_file import read_experiment
from stackcost.files import EXPERIMENTS
from stackcost.report.published.document import Cell, Document, PublishedTable, documents

ALL = documents()
GAINS = [
    pytest.param(table, id=f"{name}: {table.name}")
    for name, document in ALL.items()
    for table in document.tables
    if table.gains_over
]


def numbered(name: str, *numbers: int) -> list[PublishedTable]:
    by_name = {table.name: table for table in ALL[name].tables}
    return [by_name[f"Table {number}"] for number in numbers]


def values(document: Document, title: str) -> dict[str, list[float]]:
    (table,) = (table for table in document.tables if table.name == title)
    numbers = ([cell for cell in row[1:] if not isinstance(cell, str)] for row in table.rows)
    return {
        str(row[0]): [float(cell or 0) for cell in cells]
        for row, cells in zip(table.rows, numbers, strict=True)
    }


def printed_gains(table: PublishedTable, row: list[Cell]) -> list[float | None]:
    """In percent; None where the source prints none."""
    printed = row[1 + len(table.columns) :]
    return [float(gain) if isinstance(gain, float | int) else None for gain in printed]


def recomputed_gains(table: PublishedTable, row: list[Cell]) -> list[float]:
    """The same from the row's values: what is better, by how many percent, is above zero."""
    cells = row[1 : 1 + len(table.columns)]
    numbers = [float(cell) if isinstance(cell, float | int) else math.nan for cell in cells]
    found = dict(zip(table.columns, numbers, strict=True))
    base = found.pop(table.gains_over or "")
    if table.better == "lower":
        return [100 * (base / value - 1) for value in found.values()]
    return [100 * (value / base - 1) for value in found.values()]


def test_all_tables_of_all_publications_are_there() -> None:
    assert set(ALL) == {
        "haproxy_cookbook",
        "nginx_cookbook",
        "nginx_dlb",
        "nginx_tested",
        "nginx_white_paper",
        "paths",
        "rootless",
        "sandboxes",
        "tls_libraries",
        "trex_nginx",
    }
    cookbook = [table.name for table in ALL["nginx_cookbook"].tables if table.shape]
    assert cookbook == [f"Table {number}" for number in range(2, 20)]
    assert all(
        [row[0] for row in table.rows] == [1, 2, 4, 8, 16, 28]
        for table in numbered("nginx_cookbook", *range(2, 20))
    )
    assert len(numbered("haproxy_cookbook", 1, 2, 3, 4)) == 4


@pytest.mark.parametrize("table", GAINS)
def test_every_printed_gain_follows_from_its_row(table: PublishedTable) -> None:
    # Gains were computed before the values were rounded: to 0.01 Gb/s, or to six or so digits.
    whole = all(
        gain is None or gain == int(gain)
        for row in table.rows
        for gain in printed_gains(table, row)
    )
    decimals = 0.5 if whole else 0.005
    for row in table.rows:
        for printed, found in zip(
            printed_gains(table, row), recomputed_gains(table, row), strict=True
        ):
            if printed is None:
                continue
            step = {"Gb/s": 0.01, "1000 connections/s": 1.0, "1000 requests/s": 1.0}
            rounding = 100 * step.get(table.unit, 0.1) / float(row[1] or 0)
            assert found == pytest.approx(printed, abs=decimals + rounding * (2 + found / 100)), row


def highest_gain(number: int, *rows: int) -> float:
    """Of a table of the NGINX cookbook, over both profiles; of these worker processes alone."""
    (table,) = numbered("nginx_cookbook", number)
    chosen = [row for row in table.rows if not rows or row[0] in rows]
    return max(float(gain or 0) for row in chosen for gain in printed_gains(table, row))


def test_what_the_cookbook_claims_against_its_own_tables_is_in_a_note() -> None:
    (claims,) = (t for t in ALL["nginx_cookbook"].tables if t.name == "Section 6.2, claims")
    found = {str(row[0]): float(row[1] or 0) for row in claims.rows}
    for size, number in (("0 KB", 3), ("1 KB", 4)):
        said = found[f"{size} at 25 Gb/s, highest gain, at 16 worker processes, over"]
        assert said <= highest_gain(number, 16) < highest_gain(number) == highest_gain(number, 1)
        assert f"{highest_gain(number):.0f} %" in claims.notes[0]
    for size, number in (("0 KB", 12), ("1 KB", 13)):
        said = found[f"{size} at 100 Gb/s, highest gain over"]
        assert said < highest_gain(number) < said + 2, "this one holds"
    (one_kb,) = numbered("nginx_cookbook", 4)
    growth = float(one_kb.rows[5][1] or 0) / float(one_kb.rows[4][1] or 1) - 1
    assert f"grows by {100 * growth:.0f} %" in claims.notes[1]
    large = [row for table in numbered("nginx_cookbook", 16, 17, 18, 19) for row in table.rows]
    most = max(float(cell or 0) for row in large for cell in row[2:4])
    saturated = found["100 KB to 100 MB at 100 Gb/s, Onload saturated around, Gb/s"]
    assert most > 1.1 * saturated and f"{most:g}" in claims.notes[2]


def test_the_example_run_of_wrk_has_a_unit_that_its_own_totals_contradict() -> None:
    told = {k: v[0] for k, v in values(ALL["nginx_cookbook"], "Section 5.3, example run").items()}
    seconds = 60 * told["minutes"]
    assert told["requests"] / seconds == pytest.approx(told["requests/s"], rel=1e-3)
    kilobytes = 1024 * told["MB read"] / seconds
    assert kilobytes == pytest.approx(1000 * told["transfer/s, MB"], rel=1e-3), "KB of 1,024 bytes"
    (table,) = (t for t in ALL["nginx_cookbook"].tables if t.name == "Section 5.3, example run")
    assert f"{told['MB read'] * 2**20 / told['requests']:.0f} bytes" in table.notes[2]


def test_the_experiment_has_the_value_that_nginx_conf_has_in_force() -> None:
    conf = values(ALL["nginx_cookbook"], "Section 5.1, nginx.conf")
    experiment = read_experiment(EXPERIMENTS / "nginx_cookbook.yaml")
    assert experiment.server.worker_connections == conf["worker_connections"][0] == 200_000


def test_the_one_cell_of_the_proxys_tables_that_stands_out_is_noted() -> None:
    for number in (1, 2, 3):
        (table,) = numbered("haproxy_cookbook", number)
        apart = [
            (row[0], row[3])
            for row in table.rows
            if abs(float(row[3] or 0) / float(row[2] or 1) - 1) > 0.1
        ]
        assert apart == ([(8, 324)] if number == 1 else [])
    (first, latency) = numbered("haproxy_cookbook", 1, 4)
    assert any(note.startswith("324 ") for note in first.notes)
    assert any("no unit" in note for note in latency.notes)


def test_gains_are_not_printed_where_the_kernel_fell_behind() -> None:
    (latency,) = numbered("haproxy_cookbook", 4)
    for row in latency.rows:
        assert (row[4] is None) == (float(row[0] or 0) > 1_000_000)
        assert (recomputed_gains(latency, row)[0] > 1000) == (row[4] is None)


@pytest.mark.parametrize(
    ("requests", "throughput"), [(6, 7), (15, 16)], ids=["25 Gb/s", "100 Gb/s"]
)
def test_throughput_is_requests_times_one_size(requests: int, throughput: int) -> None:
    """Of 100 KB both are printed: the listing's 100,000 bytes and some 260 of headers."""
    above, below = numbered("nginx_cookbook", requests, throughput)
    assert below.response_bytes == 100_000
    for rates, gigabits in zip(above.rows, below.rows, strict=True):
        for rate, printed in zip(rates[1:4], gigabits[1:4], strict=True):
            received = float(printed or 0) * below.unit_size * 1e9 / 8 / float(rate or 1)
            assert received == pytest.approx(100_260, abs=30)


def test_links_are_never_more_than_full() -> None:
    for number in (7, 8, 9, 10, 16, 17, 18, 19):
        (table,) = numbered("nginx_cookbook", number)
        link = 25 if number <= 10 else 100
        assert all(float(c or 0) * table.unit_size < link for row in table.rows for c in row[1:4])


def test_trex_statistics_agree_with_each_other() -> None:
    document = ALL["trex_nginx"]
    total = {name: row[0] for name, row in values(document, "Global statistics").items()}
    ports = values(document, "Port statistics")
    counters = values(document, "TCP counters")
    sides = [total[f"CPU utilization of the {side}'s core, %"] for side in ("server", "client")]
    assert total["CPU utilization, %"] == pytest.approx(sum(sides) / 2)
    assert total["Total-Tx, Gbps"] == pytest.approx(sum(ports["Tx Bw, Gbps"]), abs=0.01)
    assert total["Gb/s per core"] == pytest.approx(24.5 / 0.697, abs=0.06)
    assert total["sockets per client"] == pytest.approx(total["sockets"] / 200, abs=0.05)
    packets = 1000 * total["Total-PPS, Mpps"] / total["Total-CPS, Kcps"]
    mean = values(document, "Table 2")["packets of a connection, mean"][0]
    assert packets == pytest.approx(mean, rel=0.05)
    assert ports["ipackets"][1] + ports["ierrors"][1] == pytest.approx(ports["opackets"][2], abs=10)
    connects = counters["tcps_connects"][0]
    assert counters["tcps_sndpack"][0] == connects
    assert counters["tcps_rcvpack"][0] == pytest.approx(
        22 * counters["tcps_connattempt"][0], rel=0.01
    )
    assert counters["m_active_flows"][0] == pytest.approx(
        counters["tcps_connattempt"][0] - counters["tcps_closed"][0], abs=1
    )
    assert counters["m_active_flows"][1] == (
        counters["tcps_accepts"][1] - counters["tcps_closed"][1]
    )


def test_trexs_counters_tell_the_lengths_that_its_table_rounds() -> None:
    counters = values(ALL["trex_nginx"], "TCP counters")
    requests = counters["tcps_sndbyte"][0] / counters["tcps_connattempt"][0]
    assert requests == 109, "whole, so it is the length"
    answered = round(counters["tcps_rcvbyte"][1] / requests)
    assert counters["tcps_sndbyte"][1] / answered == 31_345
    (table,) = (t for t in ALL["trex_nginx"].tables if t.name == "Table 2")
    assert "109 bytes" in table.notes[0] and "31,345" in table.notes[0]


def test_the_log_of_the_cache_is_of_its_longest_objects_alone() -> None:
    told = {k: v[0] for k, v in values(ALL["nginx_dlb"], "Example log, totals").items()}
    response = told["GB/s"] * 2**30 / told["requests/s"]
    (log,) = (t for t in ALL["nginx_dlb"].tables if t.name == "Example log")
    # Each connection's last response is counted in part.
    unfinished = told["connections"] * log.lengths[0] / told["requests"]
    assert log.lengths[0] < response < log.lengths[0] + unfinished


def test_what_the_trex_text_claims_follows_from_its_own_numbers() -> None:
    told = {name: row[0] for name, row in values(ALL["trex_nginx"], "Figures in the text").items()}
    cores = told["servers of nginx for 100 Gb/s"] * told["cores of each nginx server"]
    assert told["CPU factor"] == cores / told["cores of TRex for 100 Gb/s"]
    growth = 100 / 5
    assert told["nginx and kernel, GB at 100 Gb/s"] == (
        growth * told["nginx and kernel, GB at 5 Gb/s"]
    )
    assert told["memory factor"] == (
        1000 * told["nginx and kernel, GB at 100 Gb/s"] / told["TRex, MB at 100 Gb/s"]
    )


def test_the_white_paper_and_the_log_agree_with_themselves() -> None:
    paper = ALL["nginx_white_paper"]
    rate = values(paper, "Figure 1")
    response = values(paper, "Figure 4")["response, B"][0]
    carried = 8e-9 * rate["Onload, highest connections/s"][0] * response
    assert 0.85 * 10 < carried < 10, "a link is full of payload but for its headers"
    cores = rate["cores for 10 Gb/s, kernel"][0] / rate["cores for 10 Gb/s, Onload"][0]
    assert rate["times as efficient"][0] == cores
    allocated = values(paper, "Tables 1 and 2")
    for name, (local, remote, local_onload, remote_onload) in allocated.items():
        assert local + remote == local_onload + remote_onload == int(name.split()[0])
    (threads,) = (t for t in paper.tables if t.name == "Tables 1 and 2, threads")
    assert ["8, Onload, remote", "AA AA"] in threads.rows, "nginx alone on the other package"
    log = {name: row[0] for name, row in values(ALL["nginx_dlb"], "Example log, totals").items()}
    assert log["requests"] / 60 / log["minutes"] == pytest.approx(log["requests/s"], rel=0.001)
    assert 1024 * log["TB read"] / 60 / log["minutes"] == pytest.approx(log["GB/s"], rel=0.01)
    for column in zip(*values(ALL["nginx_dlb"], "Example log").values(), strict=True):
        assert list(column) == sorted(column), "percentiles rise"
