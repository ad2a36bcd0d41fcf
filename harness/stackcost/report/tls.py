"""What TLS costs by library and certificate: the sentence and the table."""

from stackcost.analysis.http_costs import Cost
from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import Summary
from stackcost.analysis.tls import Part, TlsCost, tls_costs
from stackcost.report.tables import TextTable
from stackcost.report.words import number, with_range

FULL: Part = "full handshake"
RESUMED: Part = "resumed handshake"
BYTES: Part = "kilobyte over TLS"


def has_tls(summary: Summary) -> bool:
    """Whether a run has the tests that divide the cost of TLS into its parts."""
    return bool(tls_costs(summary))


def tls_parts_answer(summary: Summary) -> str:
    """The dearest and the cheapest full handshake, the resumed ones, and the bytes."""
    known = [each for each in tls_costs(summary) if _median(each, FULL) is not None]
    if not known:
        return "**No full handshake was measured in these runs.**"
    ordered = sorted(known, key=lambda each: -(_median(each, FULL) or 0.0))
    most, least = ordered[0], ordered[-1]
    text = f"**A full TLS handshake takes {_of(most, FULL)} of the server's CPU on {most.system}"
    if most is not least:
        text += f" and {_of(least, FULL)} on {least.system}"
    text += "**"
    for name, part in (("resumed one", RESUMED), ("kilobyte more", BYTES)):
        each_on = [
            f"{_of(each, part)} on {each.system}"
            for each in (most, least)[: len(known)]
            if part in each.parts
        ]
        if each_on:
            text += f"; a {name} takes {' and '.join(each_on)}"
    return f"{text}."


def tls_parts_table(summary: Summary) -> TextTable:
    """Each part on each system by kind of CPU."""
    return TextTable(
        "What TLS adds, microseconds of the server's CPU: median (min-max of the rounds)",
        ("system", "part", "all", "user", "system", "softirq and interrupts"),
        [
            (
                each.system,
                part,
                with_range(cost.total),
                *(number(value) for value in _by_kind(cost)),
            )
            for each in tls_costs(summary)
            for part, cost in each.parts.items()
        ],
    )


def _by_kind(cost: Cost) -> tuple[float | None, float | None, float | None]:
    """User, system, and softirq with interrupts."""
    medians = {kind: each.median for kind, each in cost.kinds.items()}
    interrupts = [medians.get("softirq"), medians.get("irq")]
    known = [each for each in interrupts if each is not None]
    return medians.get("user"), medians.get("system"), sum(known) if known else None


def _median(each: TlsCost, part: Part) -> float | None:
    return each.parts[part].total.median


def _of(each: TlsCost, part: Part) -> str:
    total: Spread = each.parts[part].total
    return f"{number(total.median)} us"
