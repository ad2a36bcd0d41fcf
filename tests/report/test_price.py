"""The row of money and energy, from a cost and a price."""

from stackcost.report.tables import price_table
from tests.analysis.test_http_costs import level, of


def test_a_million_connections_take_core_hours_and_their_price() -> None:
    made = of({"nginx": [level("new", {"user": 30.0, "softirq": 6.0})]})
    ((_, _, hours, money, energy),) = price_table(made).rows
    assert hours == "0.01 (0.01-0.01)" and money.startswith("n/a: core_hour_price is not in")
    assert energy.startswith("n/a: ")
    ((_, _, _, money, _),) = price_table(made.model_copy(update={"core_hour_price": 50})).rows
    assert money == "0.53 (0.50-0.55) at 50 per core hour"
