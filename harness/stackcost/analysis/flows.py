"""Connections of a trial: opened, completed, failed, sent again.

Counter names are TRex's (its `get_counter_desc`), as the generator reports them.
"""

from stackcost.analysis import traffic
from stackcost.analysis.readings import Readings
from stackcost.analysis.thresholds import KEPT_UP
from stackcost.contracts.load import HttpClients, ProfileTraffic
from stackcost.contracts.trial import Trial

# tcp_drop() of BSD stacks counts every abort in one of the first two; the third are flows the
# generator cut because its test ended. Those of FAILED beyond them never became flows.
ABORTED = ("tcps_drops", "tcps_conndrops", "tcps_testdrops")
FAILED = (*ABORTED, "err_c_nf_throttled", "err_c_tuple_err", "err_no_memory")
RETRANSMITTED = ("tcps_sndrexmitpack", "tcps_rexmttimeo_syn")


def completed_in(seen: Readings, phase: str = "sustain") -> float | None:
    """Connections opened, served and closed that ended inside a phase.

    None when not counted, and when none began there either: the phase missed the load, as that of a
    host may that is too slow to read in time, and what the server would have done is not known.
    Of HTTP clients requests, by the server's own count; where it keeps none by the clients', who
    tell it of all their time only.
    """
    if is_http(seen.trial):
        served = seen.growth("server.requests", phase)
        whole = traffic.http_counts(seen.trial)
        if served is None and whole and phase in seen.phases:
            return whole.rate * seen.phases[phase].length
        return served
    closed = _grown(seen, phase, "tcps_closed")
    if closed is None or _missed(seen, phase):
        return None
    return closed - sum(_grown(seen, phase, name) or 0 for name in ABORTED)


def attempted_in(seen: Readings, phase: str = "sustain") -> int | None:
    """Connections that began inside a phase; None when not counted, as of HTTP clients."""
    grown = _grown(seen, phase, "tcps_connattempt")
    return None if grown is None else round(grown)


def why_no_connection(seen: Readings, phase: str = "sustain") -> str:
    """Why a phase has no figure per connection although they were counted; empty when it may have.

    Less than one is none: between two readings a counter is taken to grow evenly.
    """
    if _missed(seen, phase):
        return f"no connection fell inside the {phase} window"
    count = completed_in(seen, phase)
    if count is None or count >= 1:
        return ""
    return f"no {'request' if is_http(seen.trial) else 'connection'} ended in the {phase} window"


def _missed(seen: Readings, phase: str) -> bool:
    """Whether no connection began in a phase, and none ended."""
    counted = [_grown(seen, phase, name) for name in ("tcps_connattempt", "tcps_closed")]
    return all(number is not None and number < 1 for number in counted)


def _grown(seen: Readings, phase: str, counter: str) -> float | None:
    labels = {"engine": "generator", "side": "client", "counter": counter}
    return seen.growth("trex.counter", phase, **labels)


def completed_rate(seen: Readings, phase: str = "sustain") -> float | None:
    """The same per second of the phase."""
    count = completed_in(seen, phase)
    return None if count is None else count / seen.phases[phase].length


def kept_up(completed_cps: float, offered_cps: float) -> bool:
    """Whether the server completed what was offered, so that its ceiling lies higher."""
    return completed_cps >= KEPT_UP * offered_cps


def shares_cores(trial: Trial) -> bool:
    """Whether HTTP clients ran on cores of the server's."""
    settings = traffic.http_settings(trial)
    return settings is not None and settings.cores_shared


def is_http(trial: Trial) -> bool:
    """Whether HTTP clients were the load, and not ASTF profiles."""
    return isinstance(trial.load, HttpClients)


def client_counter(trial: Trial, name: str) -> int:
    """A client counter over the whole trial. TRex may leave out counters that stayed at zero."""
    load = trial.traffic
    return int(load.client.get(name, 0)) if isinstance(load, ProfileTraffic) else 0


def failed(trial: Trial) -> int:
    """Connections (of HTTP clients: requests) of the whole trial that did not complete."""
    if is_http(trial):
        told = traffic.http_counts(trial)
        return sum(told.failed.values()) if told else 0
    return sum(client_counter(trial, name) for name in FAILED)


def retransmitted(trial: Trial) -> int:
    """Segments the generator sent again over the whole trial."""
    return sum(client_counter(trial, name) for name in RETRANSMITTED)


def completed(trial: Trial) -> int:
    """Connections (of HTTP clients: requests) of the whole trial that completed."""
    if is_http(trial):
        told = traffic.http_counts(trial)
        return told.requests if told else 0
    aborted = sum(client_counter(trial, name) for name in ABORTED)
    return client_counter(trial, "tcps_closed") - aborted
