"""What HTTP clients measured in a trial."""

from typing import Literal

from hdrh.histogram import HdrHistogram

from stackcost.analysis.cost import core_time, cpu
from stackcost.analysis.cost.threads import seconds_of_threads
from stackcost.analysis.cost.user_share import divided
from stackcost.analysis.readings import Readings
from stackcost.contracts.latency import percentile_us
from stackcost.contracts.metrics import TASK_TIME
from stackcost.contracts.trial import Trial


def load_cpus(readings: Readings) -> list[int]:
    """Cores on which client processes ran and no server was meant to."""
    return sorted(_client_cpus(readings) - set(readings.cpus))


def _client_cpus(readings: Readings) -> set[int]:
    own = _processes(readings)
    ran = (s for s in readings.samples(TASK_TIME) if s.labels.get("process") in own)
    return {int(sample.labels["cpu"]) for sample in ran}


def _processes(readings: Readings) -> set[str]:
    return set(map(str, readings.trial.traffic.processes))


def busy_share(readings: Readings) -> float | None:
    """Share (0 to 1) of some cores' time that was not idle; None when not read."""
    cores = [core_time.core_seconds(readings, number) for number in readings.cpus]
    known = [core.idle for core in cores if core and core.idle is not None]
    if not known or len(known) < len(cores):
        return None
    return 1 - sum(known) / (readings.phases[readings.phase].length * len(known))


def client_cost(readings: Readings) -> dict[str, float | None]:
    """Microseconds of the clients' side per request; never the server's.

    "user" and "system": of the client processes, wherever they ran, exact as a sum and divided by
    `user_share`; "softirq": all of it on the load's cores.
    """
    own, counts = _processes(readings), readings.trial.traffic.counted
    everywhere = readings.on(sorted(_client_cpus(readings)))
    threads = seconds_of_threads(everywhere).items()
    task = sum(spent for thread, spent in threads if thread.process in own) or None
    user, system = divided(everywhere, task, own, counts.cpu_seconds if counts else None)
    softirq = core_time.kernel_seconds(readings)["softirq"]
    return cpu.us_per_connection(readings, {"user": user, "system": system, "softirq": softirq})


def concurrency(trial: Trial) -> float | None:
    """Connections of all clients at once."""
    settings = trial.traffic.http_settings
    return float(settings.all_connections) if settings else None


def p99_us(trial: Trial) -> float | None:
    """99th percentile of a trial's times, of the first kind that is known; None without any."""
    kinds: dict[str, str] = next(iter((trial.traffic.latency or {}).values()), {})
    text = next(iter(kinds.values()), None)
    return percentile_us(HdrHistogram.decode(text), 99.0) if text else None


def sum_over_clients(
    trial: Trial, name: Literal["rate", "bits_per_second", "unsent"]
) -> float | None:
    """A sum over the clients, as `HttpCounts` has it; None of a trial that was cut short."""
    counts = trial.traffic.counted
    return float(getattr(counts, name)) if counts else None
