"""What a network with loss, delay or a low rate costs each system: beside the best one of its run.

Only runs whose matrix varies the network have rows. Systems differ in nothing else there.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from stackcost.analysis.comparison import Comparison, Design, Question, compare_all
from stackcost.analysis.series import Series
from stackcost.analysis.summary import Level, ServerResult, Summary
from stackcost.contracts.load import rate_words


@dataclass(frozen=True, slots=True)
class Condition:
    """One system over one network, at the load that its cost is quoted at.

    `network`: the settings that vary, by name. `compared`: the CPU cost of a connection against
    that of the same system over its best network, paired by round; None of the best itself, and
    where one of them was not measured at this load.
    """

    system: str
    network: dict[str, float]
    level: Level
    compared: Comparison | None


def conditions_of(summary: Summary) -> list[Condition]:
    """Every system over every network, the best network of each first; empty where none varies."""
    found = []
    for system, servers in _by_system(summary).items():
        best, *others = servers
        level = best.quoted
        if level is None:
            continue
        found.append(Condition(system, best.network, level, None))
        rows = [(other, _at(other, level)) for other in others]
        known = [(other, each) for other, each in rows if each]
        questions = [
            Question(
                Series.of_spread(level["server_cpu_total"]),
                Series.of_spread(each["server_cpu_total"]),
                Design(paired=True),
                other.name,
                f"{rate_words(level.offered_cps)}/s",
            )
            for other, each in known
        ]
        found += [
            Condition(system, other.network, each, compared)
            for (other, each), compared in zip(known, compare_all(questions), strict=True)
        ]
    return found


def _by_system(summary: Summary) -> dict[str, list[ServerResult]]:
    found: dict[str, list[ServerResult]] = {}
    for server in summary.servers:
        if server.network:
            found.setdefault(server.without_network().name, []).append(server)
    return {
        system: sorted(servers, key=lambda server: tuple(_badness(server)))
        for system, servers in found.items()
    }


def _badness(server: ServerResult) -> Iterator[float]:
    """More of each setting is worse, but for the rate."""
    for setting, value in server.network.items():
        yield -value if setting == "rate_mbit" else value


def _at(server: ServerResult, wanted: Level) -> Level | None:
    """Its level at the same load, held or not: past its ceiling a lossy network is a result."""
    return next((level for level in server.levels if level.load == wanted.load), None)
