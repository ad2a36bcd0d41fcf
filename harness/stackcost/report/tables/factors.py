"""The cost of a connection on one server compared with another."""

from stackcost.analysis.summary import Factor, Summary
from stackcost.report.text_table import TextTable
from stackcost.report.words import UNKNOWN, factor, number, pair, verdict_of, with_range


def cost_table(summary: Summary) -> TextTable:
    """The cost of one connection on each server, and its factor to the cost of the other server."""
    by_pair: dict[tuple[str, str], dict[str, Factor]] = {}
    for found in summary.factors:
        by_pair.setdefault((found.baseline, found.against), {})[found.name] = found
    rows: list[tuple[str, ...]] = [
        (
            above,
            f"{with_range(each['cpu'].baseline_cost)} at {each['cpu'].at}",
            factor(each["cpu"].ratio),
            with_range(each["memory"].baseline_cost),
            factor(each["memory"].ratio),
            _tuning_remark(summary, above),
        )
        for (above, _), each in by_pair.items()
    ]
    for below in dict.fromkeys(below for _, below in by_pair):
        each = next(each for (_, name), each in by_pair.items() if name == below)
        costs = with_range(each["cpu"].against_cost), with_range(each["memory"].against_cost)
        rows.append((below, f"{costs[0]} at {each['cpu'].at}", "1", costs[1], "1", ""))
    rows += [(each.name, UNKNOWN, "", UNKNOWN, "", each.why) for each in summary.not_measured]
    against = ", ".join(dict.fromkeys(below for _, below in by_pair))
    return TextTable(
        "Cost of one connection: median (min-max of the rounds)",
        (
            "system",
            "CPU, us",
            f"times {against}",
            "memory, bytes per open flow",
            f"times {against}",
            "tuning",
        ),
        rows,
    )


def _tuning_remark(summary: Summary, server: str) -> str:
    changes = summary.tuning.get(server, [])
    refused = sum(bool(change.reason) for change in changes)
    text = f"{len(changes) - refused} settings active" if changes else ""
    return f"{text}, {refused} not active" if refused else text


def factor_table(summary: Summary) -> TextTable:
    """The cost factors with their spread."""
    return TextTable(
        "Cost factors",
        ("factor", "of", "at", "us or bytes", "ratio, interval, range of rounds", "verdict"),
        [
            (
                found.name,
                pair(found.baseline, found.against),
                found.at,
                f"{number(found.baseline_cost.median)} / {number(found.against_cost.median)}",
                factor(found.ratio),
                verdict_of(found.comparison),
            )
            for found in summary.factors
        ],
    )
