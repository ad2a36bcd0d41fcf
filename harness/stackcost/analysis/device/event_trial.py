"""One event at a device: when it happened, and what became of connections."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from stackcost.contracts import metrics
from stackcost.contracts.event_settings import EXHAUSTING
from stackcost.contracts.load import DeviceEvent, EventTimeline
from stackcost.contracts.sample import Metric, Sample
from stackcost.contracts.trial import Trial

Series = list[tuple[float, float]]


def began(trial: Trial) -> float:
    """When the traffic started, CLOCK_MONOTONIC."""
    timeline = trial.load_of(DeviceEvent).timeline
    assert timeline is not None, "the event had not begun"
    return timeline.began


def group_counter(trial: Trial, group: str, counter: str) -> Series:
    """A client counter of a template group; from zero, since none was counted before."""
    found = [(0.0, 0.0)]
    times: dict[float, float] = {}
    wanted = {"group": group, "side": "client"}
    for sample in trial.samples:
        if (
            sample.metric == metrics.TREX_GROUP_COUNTER.name
            and wanted.items() <= sample.labels.items()
        ):
            times.setdefault(sample.time, 0.0)
            if sample.labels["counter"] == counter:
                times[sample.time] = sample.value or 0.0
    highest = 0.0
    for time, value in sorted(times.items()):
        highest = max(highest, value)
        found.append((time - began(trial), highest))
    return found


def level(trial: Trial, metric: Metric) -> Series:
    """A gauge of the device."""
    found = {
        s.time: s.value for s in trial.samples if s.metric == metric.name and s.value is not None
    }
    return [(time - began(trial), value) for time, value in sorted(found.items())]


def completion_ms(trial: Trial, group: str, percentile: str) -> Series:
    """How long a group's connections took that ended since the reading before."""
    wanted = {"group": group, "kind": "completion", "percentile": percentile}
    return [
        (s.time - began(trial), s.value * 1e3)
        for s in trial.samples
        if s.metric == metrics.ENGINE_LATENCY.name and s.labels == wanted and s.value is not None
    ]


def rate(series: Sequence[tuple[float, float]]) -> Series:
    """Per second between each two readings, at the later one."""
    return [
        (at, (after - before) / (at - since))
        for (since, before), (at, after) in pairwise(series)
        if at > since
    ]


def core_share(trial: Trial, cpu: int) -> Series:
    """Share (0 to 1) of a core's time in softirq."""
    samples: list[Sample] = [
        s
        for s in trial.samples
        if s.metric == metrics.CPU_EXACT_TIME.name
        and s.labels == {"cpu": str(cpu), "kind": "softirq"}
    ]
    return rate([(s.time - began(trial), s.value) for s in samples if s.value is not None])


FULL = 0.99  # of the table
BROKEN = {"cut": "its link to the servers was cut", "killed": "it was removed with all its links"}
SETTLED_S = 1.5  # the established connections have been opened


@dataclass(frozen=True)
class EventTrial:
    """One trial of an event. Times in seconds from the start of the traffic; None: never."""

    trial: Trial
    load: DeviceEvent
    times: EventTimeline

    @cached_property
    def at(self) -> float | None:
        """When the table was full, the link cut or the device removed."""
        if self.load.event in BROKEN:
            return None if self.times.cut is None else self.times.cut - self.times.began
        if self.load.event not in EXHAUSTING:
            return None
        least = FULL * self.load.settings.table
        return next((at for at, held in self._entries if held >= least), None)

    @property
    def before(self) -> float | None:
        """Requests/s answered on established connections before that."""
        return _between(self._answered, SETTLED_S, self.at)

    @property
    def after(self) -> float | None:
        """The rate from then on, until the flood ended."""
        settings = self.load.settings
        broken = self.load.event in BROKEN
        end = settings.cut_seconds if broken else settings.flood_ends
        return _between(self._answered, self.at, end)

    @property
    def lost_established(self) -> int:
        """Connections that were open before and given up."""
        names = ("tcps_drops", "tcps_conndrops")
        return round(sum(group_counter(self.trial, "established", n)[-1][1] for n in names))

    @cached_property
    def first_failure(self) -> float | None:
        """From when on new connections failed."""
        few, since = self.load.settings.few, self.at
        if not since:
            return None
        return next((at for at, failed in self._failures if failed > few and at >= since), None)

    @property
    def recovered(self) -> float | None:
        """From when on two consecutive seconds never had more than a few failures again."""
        if self.first_failure is None:
            return None
        bad = [at for at, failed in self._failures if failed > self.load.settings.few]
        later = [at for at, _ in self._failures if at > bad[-1]]
        return later[0] if len(later) > 3 else None

    @property
    def not_ended(self) -> int:
        """Connections of all kinds that were still retransmitting at the end."""
        groups = self.load.settings.tunables(self.load.event)
        return round(sum(group_counter(self.trial, g, "tcps_testdrops")[-1][1] for g in groups))

    def series(self, cores: Sequence[int]) -> dict[str, Series]:
        """By name, for plots. `cores`: the device's."""
        return {
            "requests/s on established connections": rate(self._answered),
            "new connections/s tried": rate(self._probed("tcps_connattempt")),
            "new connections/s made": rate(self._probed("tcps_connects")),
            "ms that 99 of 100 new connections took at most": completion_ms(
                self.trial, "probe", "p99"
            ),
            "tracked connections": self._entries,
            "share of the device's core in softirq": core_share(self.trial, cores[0]),
        }

    @cached_property
    def _entries(self) -> Series:
        return level(self.trial, metrics.CONNTRACK_ENTRIES)

    @cached_property
    def _answered(self) -> Series:
        received = group_counter(self.trial, "established", "tcps_rcvbyte")
        return [(at, count / self.times.answer_bytes) for at, count in received]

    @cached_property
    def _failures(self) -> Series:
        tried, made = (rate(self._probed(each)) for each in ("tcps_connattempt", "tcps_connects"))
        return [
            (at, attempts - connects)
            for (at, attempts), (_, connects) in zip(tried, made, strict=True)
        ]

    def _probed(self, counter: str) -> Series:
        return group_counter(self.trial, "probe", counter)


def _between(series: Series, start: float | None, end: float | None) -> float | None:
    """Requests per second in a span."""
    if start is None or end is None:
        return None
    inside = [(at, value) for at, value in series if start <= at <= end]
    if len(inside) < 2 or inside[-1][0] == inside[0][0]:
        return None
    return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])
