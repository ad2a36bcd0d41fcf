"""Connections of a trial: opened, completed, failed, sent again.

Counter names are TRex's (its `get_counter_desc`), as the generator reports them.
"""

from harness.analysis.readings import Readings
from harness.model import Trial

# tcp_drop() of BSD stacks counts every abort in one of the first two; the third are flows the
# generator cut because its test ended. Those of FAILED beyond them never became flows.
ABORTED = ("tcps_drops", "tcps_conndrops", "tcps_testdrops")
FAILED = (*ABORTED, "err_c_nf_throttled", "err_c_tuple_err", "err_no_memory")
RETRANSMITTED = ("tcps_sndrexmitpack", "tcps_rexmttimeo_syn")


def completed_in(seen: Readings, phase: str = "sustain") -> float | None:
    """Connections opened, served and closed that ended inside a phase; None when not counted."""

    def grown(counter: str) -> float | None:
        labels = {"engine": "generator", "side": "client", "counter": counter}
        return seen.growth("trex.counter", phase, **labels)

    closed = grown("tcps_closed")
    return None if closed is None else closed - sum(grown(name) or 0 for name in ABORTED)


def completed_rate(seen: Readings, phase: str = "sustain") -> float | None:
    """The same per second of the phase."""
    count = completed_in(seen, phase)
    return None if count is None else count / seen.trial.phases[phase].length


def client_counter(trial: Trial, name: str) -> int:
    """A client counter over the whole trial. TRex may leave out counters that stayed at zero."""
    return int(trial.load.get("client", {}).get(name, 0))


def failed(trial: Trial) -> int:
    """Connections of the whole trial that did not complete."""
    return sum(client_counter(trial, name) for name in FAILED)


def retransmitted(trial: Trial) -> int:
    """Segments the generator sent again over the whole trial."""
    return sum(client_counter(trial, name) for name in RETRANSMITTED)


def completed(trial: Trial) -> int:
    """Connections of the whole trial that completed."""
    aborted = sum(client_counter(trial, name) for name in ABORTED)
    return client_counter(trial, "tcps_closed") - aborted
