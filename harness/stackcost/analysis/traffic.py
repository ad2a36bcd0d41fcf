"""What a trial says of its load that several kinds of load have, and what of it is unknown."""

from stackcost.contracts.counts import (
    Direction,
    FramesPassed,
    Histograms,
    Limits,
    Schedule,
)
from stackcost.contracts.load import (
    ConstantLoad,
    HttpClients,
    HttpCounts,
    HttpSettings,
    ProfileTraffic,
)
from stackcost.contracts.trial import Trial


def test_of(trial: Trial) -> str:
    """The test that HTTP clients made; empty of other loads."""
    return trial.load.test if isinstance(trial.load, HttpClients) else ""


def http_settings(trial: Trial) -> HttpSettings | None:
    """What HTTP clients were asked for; None of other loads."""
    return trial.load.settings if isinstance(trial.load, HttpClients) else None


def http_counts(trial: Trial) -> HttpCounts | None:
    """What HTTP clients counted; None of other loads, and of a trial that was cut short."""
    return trial.load.counted if isinstance(trial.load, HttpClients) else None


def client_processes(trial: Trial) -> list[int]:
    """Process ids of HTTP clients; of other loads none."""
    return trial.load.processes if isinstance(trial.load, HttpClients) else []


def bed_processes(trial: Trial) -> list[int]:
    """Process ids of all that ran on cores shared with HTTP clients; of other loads none."""
    return trial.load.others if isinstance(trial.load, HttpClients) else []


def server_requests(trial: Trial) -> int | None:
    """Requests of the whole trial by the server's own count; None where it keeps none."""
    load = trial.traffic
    return load.server_requests if isinstance(load, ConstantLoad | HttpClients) else None


def schedule(trial: Trial) -> Schedule | None:
    """How the generator kept its schedule; None when it does not tell."""
    load = trial.traffic
    return load.schedule if isinstance(load, ProfileTraffic) else None


def cut_flows(trial: Trial) -> int:
    """Flows that had not ended when the drain was over; 0 of loads without a drain."""
    load = trial.traffic
    return (load.cut_flows or 0) if isinstance(load, ProfileTraffic) else 0


def overrun_s(trial: Trial) -> float:
    """Seconds for which what is read under load was still read after it; 0 where not told."""
    load = trial.traffic
    return (load.overrun_s or 0.0) if isinstance(load, ProfileTraffic) else 0.0


def frames(trial: Trial) -> dict[Direction, FramesPassed] | None:
    """Frames at each point of the way through a device; None when they were not counted."""
    load = trial.traffic
    return load.frames if isinstance(load, ProfileTraffic) else None


def limits(trial: Trial) -> Limits:
    """What the server used and was granted; of a trial in which it was not read, nothing."""
    return trial.traffic.limits or Limits()


def histograms(trial: Trial) -> Histograms:
    """Times of connections or requests; empty when they are not told."""
    load = trial.traffic
    read = load.latency if isinstance(load, ConstantLoad | HttpClients) else None
    return read or {}
