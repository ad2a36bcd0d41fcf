"""The rows of tables about the times of connections, of all trials together and by second."""

from collections.abc import Iterable, Iterator, Sequence

from stackcost.analysis.merged import Of, by_second, merged, recorded
from stackcost.contracts.latency import percentile_us
from stackcost.contracts.trial import Trial
from stackcost.frames.rows import Row


def merged_latency(
    run: str, before: str, trials: Iterable[Trial], percentiles: Sequence[float]
) -> Iterator[Row]:
    """Percentiles of all rounds together. `before`: what stands before a system's name."""
    for of, times in merged(trials).items():
        for percentile in percentiles:
            yield {
                **_head(run, before, of),
                "timed": times.get_total_count(),
                "percentile": percentile,
                "us": percentile_us(times, percentile),
            }


def latency_over_time(run: str, before: str, trials: Iterable[Trial]) -> Iterator[Row]:
    """Each time that was recorded in each second, and how many connections took as long."""
    for part in by_second(trials):
        head = _head(run, before, part.of)
        head |= {"trial": part.trial.number, "round": part.trial.round, "seconds": part.start}
        for us, count in recorded(part.times):
            yield {**head, "us": us, "count": count}


def _head(run: str, before: str, of: Of) -> Row:
    return {"run": run, **of._asdict(), "system": before + of.system}
