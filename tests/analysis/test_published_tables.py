"""Published tables against their own data: a number that was taken over wrongly contradicts one."""

import math

import pytest

from stackcost.analysis.published_tables import Cell, Document, PublishedTable, documents

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
    return {str(row[0]): [float(cell or 0) for cell in row[1:]] for row in table.rows}


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
    cookbook = [table.name for table in ALL["nginx_cookbook"].tables]
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
    log = {name: row[0] for name, row in values(ALL["nginx_dlb"], "Example log, totals").items()}
    assert log["requests"] / 60 / log["minutes"] == pytest.approx(log["requests/s"], rel=0.001)
    assert 1024 * log["TB read"] / 60 / log["minutes"] == pytest.approx(log["GB/s"], rel=0.01)
    for column in zip(*values(ALL["nginx_dlb"], "Example log").values(), strict=True):
        assert list(column) == sorted(column), "percentiles rise"
