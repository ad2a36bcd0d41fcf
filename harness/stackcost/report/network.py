"""What a network that loses or delays frames costs each system: the sentence and the table."""

from stackcost.analysis.network import Condition, conditions_of
from stackcost.analysis.summary import Level, Summary
from stackcost.contracts.system import NETWORK, label
from stackcost.report.tables import TextTable
from stackcost.report.words import UNKNOWN, change_of, number, with_range

MILLISECONDS = 1e-3  # in a microsecond


def varies_network(summary: Summary) -> bool:
    """Whether the matrix of this run has several networks."""
    return bool(conditions_of(summary))


def network_answer(summary: Summary) -> str:
    """Of each system: what the worst network adds to a connection's CPU time, and to its p99."""
    found = conditions_of(summary)
    said = []
    for system in dict.fromkeys(each.system for each in found):
        best, *others = [each for each in found if each.system == system]
        if not others:
            continue
        worst = others[-1]
        said.append(
            f"{system} takes {_cpu(worst)} us of CPU for a connection over {_words(worst)} and "
            f"{_cpu(best)} us over {_words(best)}; the 99th percentile of completion is "
            f"{_p99(worst.level)} and {_p99(best.level)} ms."
        )
    return f"**{' '.join(said)}**" if said else ""


def network_table(summary: Summary) -> TextTable:
    """Every system over every network, the best one of each first."""
    return TextTable(
        "A connection over each network: median (min-max of the rounds). Sent again: segments per "
        "connection",
        (
            "system",
            "network",
            "load /s",
            "done /s",
            "CPU, us",
            "more than over the best",
            "server sent again",
            "p50, ms",
            "p99, ms",
        ),
        [_row(each) for each in conditions_of(summary)],
    )


def _row(each: Condition) -> tuple[str, ...]:
    level = each.level
    return (
        each.system,
        _words(each),
        number(level.offered_cps) + (", not all passed" if level.not_held else ""),
        number(level["completed_cps"].median),
        with_range(level["server_cpu_total"]),
        change_of(each.compared) if each.compared else "",
        with_range(level["sent_again.server"]) if "sent_again.server" in level else UNKNOWN,
        _percentile(level, "p50"),
        _p99(level),
    )


def _words(each: Condition) -> str:
    return ", ".join(label(f"{NETWORK}{name}", value) for name, value in each.network.items())


def _cpu(each: Condition) -> str:
    return number(each.level["server_cpu_total"].median)


def _p99(level: Level) -> str:
    return _percentile(level, "p99")


def _percentile(level: Level, name: str) -> str:
    told = level.latency.get("", {}).get("completion", {}).get(name)
    return number(told.median * MILLISECONDS) if told and told.median is not None else UNKNOWN
