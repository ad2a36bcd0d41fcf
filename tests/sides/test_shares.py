"""A load that several generators divide: nothing is lost, and nothing is there twice."""

import itertools
from ipaddress import IPv4Address, IPv4Network

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.sides.shares import divide, divide_clients, networks_of, parts_of

CLIENTS = "16.0.0.1-16.0.0.200"


def addresses(clients: str) -> list[int]:
    first, last = (int(IPv4Address(end)) for end in clients.split("-"))
    return list(range(first, last + 1))


@pytest.mark.parametrize("shares", [[1], [1, 1], [2, 1], [1, 1, 1], [5, 3, 1, 1], [0.1, 0.7]])
def test_clients_are_divided_without_a_gap_or_an_overlap(shares: list[float]) -> None:
    parts = parts_of(shares)
    ranges = divide_clients(CLIENTS, parts)
    found = [addresses(each) for each in ranges]
    assert list(itertools.chain(*found)) == addresses(CLIENTS)
    for part, each in zip(parts, found, strict=True):
        assert len(each) == pytest.approx(part * 200, abs=len(shares))


def test_equal_shares_are_equal_ranges() -> None:
    assert divide_clients(CLIENTS, [0.5, 0.5]) == ["16.0.0.1-16.0.0.100", "16.0.0.101-16.0.0.200"]


def test_each_generator_has_a_client_however_small_its_share_is() -> None:
    assert divide_clients("16.0.0.1-16.0.0.3", parts_of([1000, 1, 1])) == [
        "16.0.0.1-16.0.0.1",
        "16.0.0.2-16.0.0.2",
        "16.0.0.3-16.0.0.3",
    ]
    with pytest.raises(StackcostError, match="3 generators cannot divide 2 client addresses"):
        divide_clients("16.0.0.1-16.0.0.2", parts_of([1, 1, 1]))


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100, 12_001])
@pytest.mark.parametrize("shares", [[1, 1], [2, 1], [1, 1, 1], [7, 2, 1]])
def test_a_count_is_divided_exactly(count: int, shares: list[float]) -> None:
    parts = parts_of(shares)
    divided = divide(count, parts)
    assert sum(divided) == count
    assert all(abs(n - count * part) < 1 for n, part in zip(divided, parts, strict=True))


def test_the_routes_to_a_range_have_its_clients_and_no_other() -> None:
    networks = [IPv4Network(each) for each in networks_of("16.0.0.101-16.0.0.200")]
    found = sorted(int(address) for network in networks for address in network)
    assert found == addresses("16.0.0.101-16.0.0.200")
