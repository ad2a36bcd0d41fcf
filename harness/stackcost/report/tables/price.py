"""What a million connections take of the server's cores: in core hours, in money, in energy."""

from stackcost.analysis.spread import Spread, combined
from stackcost.analysis.summary import Level, Summary
from stackcost.report.text_table import TextTable
from stackcost.report.words import UNKNOWN, number, with_range

HOUR = 3600  # microseconds per connection are seconds per million of them


def price_table(summary: Summary) -> TextTable:
    """A row for each system at the load at which its cost is quoted.

    Money only if the experiment gives the price of a core. Energy is of the whole machine.
    """
    price = summary.core_hour_price
    quoted = [(server.name, level) for server in summary.servers if (level := server.quoted)]
    return TextTable(
        "A million connections (HTTP clients: requests): median (min-max of the rounds)",
        ("system", "at", "core hours", "money", "energy of the machine"),
        [
            (
                name,
                level.load,
                with_range(_times(level["server_cpu_total"], 1 / HOUR)),
                UNKNOWN + ": core_hour_price is not in the experiment"
                if price is None
                else f"{with_range(_times(level['server_cpu_total'], price / HOUR))} at "
                f"{number(price)} per core hour",
                _energy(level),
            )
            for name, level in quoted
        ],
    )


def _times(cost: Spread, factor: float) -> Spread:
    return combined([(factor, cost)]) if cost.values else cost


def _energy(level: Level) -> str:
    if level["energy"].median is None:
        return f"{UNKNOWN}: {level['energy'].reason}"
    return f"{with_range(level['energy'])} J"
