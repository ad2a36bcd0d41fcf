"""What a request and a connection cost over each version of HTTP: the sentence and the table."""

from collections.abc import Sequence

from stackcost.analysis.comparison import Comparison
from stackcost.analysis.http_costs import Cost
from stackcost.analysis.http_versions import VersionCost, version_costs
from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import Summary
from stackcost.report.tables import TextTable
from stackcost.report.words import UNKNOWN, change_of, number, with_range


def has_versions(summary: Summary) -> bool:
    """Whether a run measured several versions of HTTP at a rate."""
    return bool(version_costs(summary))


def versions_answer(summary: Summary) -> str:
    """What a request and a new connection cost over each version, by system."""
    costs = version_costs(summary)
    systems = dict.fromkeys(cost.system for cost in costs)
    lines = [_sentence([cost for cost in costs if cost.system == name]) for name in systems]
    return "\n\n".join(lines) or "**Only one version of HTTP was measured in these runs.**"


def versions_table(summary: Summary) -> TextTable:
    """Each version on each system, with what is different from HTTP/1.1."""
    return TextTable(
        "Over TLS, microseconds of the server's CPU: median (min-max of the rounds); bytes for one "
        "more open connection",
        (
            "system",
            "HTTP",
            "request",
            "than HTTP/1.1",
            "of it softirq",
            "connection",
            "than HTTP/1.1",
            "of it softirq",
            "process, B",
            "slab of both ends, B",
        ),
        [
            (
                each.system,
                each.version,
                f"{with_range(each.request.total)} at {number(each.rate)}/s",
                _change(each.request_compared),
                _kind(each.request, "softirq"),
                with_range(each.connection.total) if each.connection else UNKNOWN,
                _change(each.connection_compared),
                _kind(each.connection, "softirq"),
                _bytes(each.process_bytes),
                _bytes(each.slab_bytes),
            )
            for each in version_costs(summary)
        ],
    )


def _sentence(costs: Sequence[VersionCost]) -> str:
    requests = [f"{number(c.request.total.median)} us over HTTP/{c.version}" for c in costs]
    news = [
        f"{number(c.connection.total.median)} us over HTTP/{c.version}"
        for c in costs
        if c.connection
    ]
    text = f"**{costs[0].system}: a request takes {_listed(requests)} of the server's CPU"
    if news:
        text += f"; a new connection takes {_listed(news)} more"
    return f"{text}** (all over TLS, at the same rates)."


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _change(found: Comparison | None) -> str:
    return change_of(found) if found else ""


def _kind(cost: Cost | None, kind: str) -> str:
    return number(cost.kinds[kind].median) if cost and kind in cost.kinds else UNKNOWN


def _bytes(found: Spread | None) -> str:
    return with_range(found) if found else UNKNOWN
