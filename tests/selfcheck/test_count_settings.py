"""The table of what settings cost has a column for each kernel."""

from engine.bench.tools.selfcheck.count_settings import NO_GRO, table
from engine.bench.tools.selfcheck.counted import Connection


def test_a_setting_is_told_by_what_it_adds_to_the_first_row() -> None:
    first = Connection(100_000, 200, 10_000, 30_000)
    found = {
        "6.1": {
            "as it is": first,
            "nftables, 1 rule": Connection(101_000, 1200, 12_000, 30_000),
            NO_GRO: Connection(70_000, 200, 10_000, 50_000),
        },
        "6.12": {"as it is": first},
    }
    assert list(table(found))[2:] == [
        "| as it is | 100,000; 10,000 B | 100,000; 10,000 B |",
        "| nftables, 1 rule | +1,000 (+1.0%); +2,000 B |  |",
        f"| {NO_GRO} | -10,000 (-10.0%) |  |",
    ]
