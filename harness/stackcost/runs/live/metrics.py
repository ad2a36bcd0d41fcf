"""The same in OpenMetrics, for Prometheus: names by its conventions."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.openmetrics.exposition import ALLOWUTF8, CONTENT_TYPE_LATEST, generate_latest

CONTENT_TYPE = CONTENT_TYPE_LATEST


class Snapshot:
    """One snapshot of a watch as metrics; what is not known has none."""

    def __init__(self, snapshot: Callable[[], dict[str, Any]]):
        self._snapshot = snapshot

    def collect(self) -> Iterable[Metric]:
        """Every metric, those without a sample too."""
        shown = self._snapshot()
        now, second = shown["now"], shown["second"]
        run = InfoMetricFamily("stackcost_run", "The run and what it does now.")
        words = ("system", "turn", "load", "doing")
        run.add_metric([], {"run": shown["run"], **{key: now[key] for key in words if now}})
        yield run
        yield _of("stackcost_trials", "Trials that were stored.", shown["trials"])
        left = now["left_s"] if now else None
        yield _of("stackcost_left_seconds", "Time that the run still takes.", left)
        for name, help_text, value in (
            ("offered", "Connections that the generator starts, each second.", shown["offered"]),
            ("attempted", "Connections that began, each second.", second["attempted"]),
            ("completed", "Connections that completed, each second.", second["completed"]),
        ):
            yield _of(f"stackcost_connections_{name}_per_second", help_text, value)
        yield _of(
            "stackcost_core_busy_seconds_per_connection",
            "Time of the server's cores, busy with anything, per completed connection, in the last "
            "second.",
            None if (us := second["busy_us_per_connection"]) is None else us / 1e6,
        )
        yield _by(
            "stackcost_connections_failed_per_second",
            "Connections that failed, each second, by the generator's counter.",
            "counter",
            second["failed"],
        )
        yield _by(
            "stackcost_completion_latency_seconds",
            "Time from a connection's intended start to its end, in the last second.",
            "percentile",
            {name: us / 1e6 for name, us in second["latency_us"].items()},
        )
        yield _by("stackcost_slab_bytes", "Kernel memory by slab cache.", "cache", second["slab"])
        cores = GaugeMetricFamily(
            "stackcost_core_time_ratio", "Share of a core's time by kind.", labels=["cpu", "kind"]
        )
        for cpu, kinds in second["cores"].items():
            for kind, share in kinds.items():
                cores.add_metric([cpu, kind], share)
        yield cores
        costs = GaugeMetricFamily(
            "stackcost_server_cpu_seconds",
            "CPU time of the server per connection: median of the trials so far.",
            labels=["system", "load"],
        )
        for cost in shown["costs"]:
            costs.add_metric([cost["system"], cost["load"]], cost["us"] / 1e6)
        yield costs


def _of(name: str, help_text: str, value: float | None) -> Metric:
    family = GaugeMetricFamily(name, help_text)
    if value is not None:
        family.add_metric([], value)
    return family


def _by(name: str, help_text: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, help_text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family


def exposition(snapshot: Callable[[], dict[str, Any]]) -> bytes:
    """The text of one scrape."""
    registry = CollectorRegistry()
    registry.register(Snapshot(snapshot))  # type: ignore[arg-type]
    return generate_latest(registry, escaping=ALLOWUTF8)  # nothing has to be escaped: fastest
