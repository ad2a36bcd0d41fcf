"""What must hold for a trial's figures to be believed: what was compared, with both values.

A check is stated when it holds, too. Reasons to distrust a trial are in `trial.flags`.
"""

import math

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.cost import core_time, flows
from stackcost.analysis.cost.core_time import TOLERANCE, accounted_time
from stackcost.analysis.device.device import has_backend
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.thresholds import RECEIVE_SHARE, RESUMED_SHARE
from stackcost.contracts.metrics import CPU_EXACT_TIME
from stackcost.contracts.network import NetworkCounts
from stackcost.contracts.tls import TlsCounts
from stackcost.contracts.trial import Trial


class Check(BaseModel):
    """One comparison. `holds` is None when one side is unknown; `reason` then says why."""

    model_config = ConfigDict(frozen=True)

    name: str
    holds: bool | None
    wanted: str
    seen: str
    reason: str = ""


def checks(readings: Readings) -> list[Check]:
    """The comparisons of one trial; of one that held flows open, that its account of time closes.

    A peer that speaks frames itself leaves no receive work to the kernel, so none is compared. A
    server behind a device has its own on the generator's cores. Of HTTP clients their requests and
    the account are compared.
    """
    trial = readings.trial
    if trial.traffic.holds:
        return [_time_is_accounted(readings)]
    if trial.traffic.unit == "request":
        served = _served_as_asked(trial)
        return [*([served] if served else []), _time_is_accounted(readings)]
    found = [
        _counts_agree(trial),
        _bytes_agree(trial),
        _server_agrees(trial),
        _time_is_accounted(readings),
    ]
    if trial.traffic.tls and trial.traffic.tls.asked.resumption:
        found.append(_resumes_as_asked(trial.traffic.tls))
    if trial.traffic.network:
        found.append(_loses_as_asked(trial.traffic.network))
    if not core_time.has_peer(readings) and not has_backend(trial):
        found.append(_receive_work_is_the_servers(readings))
    return found


def _served_as_asked(trial: Trial) -> Check | None:
    """The server's count of requests against the clients'; None of a trial without clients' counts.

    A client that ends cuts the requests that are under way, which the server has counted: at most
    one for each connection, or for each stream of it.
    """
    counts, settings = trial.traffic.counted, trial.traffic.http_settings
    if counts is None or settings is None:
        return None
    name = (
        "requests counted by the server = those counted by the clients (+ those cut off at the end)"
    )
    served = trial.traffic.server_requests
    beside = trial.traffic.counted_beside
    least = counts.requests + (beside.requests if beside else 0)
    most = least + trial.traffic.failed + settings.all_connections * settings.streams
    wanted = f"{least} to {most}"
    if served is None:
        return Check(
            name=name,
            holds=None,
            wanted=wanted,
            seen="unknown",
            reason="this server keeps no count",
        )
    return Check(name=name, holds=least <= served <= most, wanted=wanted, seen=str(served))


def _counts_agree(trial: Trial) -> Check:
    names = ("tcps_connattempt", "tcps_connects", "tcps_closed")
    attempted, established, closed = (trial.traffic.counter(name) for name in names)
    equal = attempted == established == closed > 0 and not trial.traffic.failed
    counts = f"{attempted} = {established} = {closed}, {trial.traffic.failed}"
    if (network := trial.traffic.network) and network.asked.sends_again:
        name = "attempted = established = closed, none failed"
        return Check(name=name, holds=equal, wanted="equal, 0", seen=counts)
    again = trial.traffic.retransmitted
    return Check(
        name="attempted = established = closed, none failed or retransmitted",
        holds=equal and not again,
        wanted="equal, 0, 0",
        seen=f"{counts}, {again}",
    )


def _loses_as_asked(network: NetworkCounts) -> Check:
    """Within five standard deviations of a binomial distribution: that is exceeded by chance in one
    of two million trials.
    """
    share, frames = network.asked.loss, network.frames
    wanted = share * frames
    room = 5 * math.sqrt(wanted * (1 - share))
    return Check(
        name="frames that the network lost = share asked for x frames",
        holds=abs(network.lost - wanted) <= room,
        wanted=f"{wanted:,.0f} within {room:,.0f}",
        seen=f"{network.lost:,} of {frames:,}",
    )


def _resumes_as_asked(tls: TlsCounts) -> Check:
    """By the generator's own count: a server without tickets makes every handshake a full one."""
    name = "handshakes that resumed a session, as load.tls.resumption asks"
    wanted = f">= {RESUMED_SHARE:.0%}"
    if not tls.handshakes:
        reason = "no handshake was complete"
        return Check(name=name, holds=None, wanted=wanted, seen="unknown", reason=reason)
    resumed = tls.handshakes_resumed
    return Check(
        name=name,
        holds=resumed >= RESUMED_SHARE * tls.handshakes,
        wanted=wanted,
        seen=f"{resumed:,} of {tls.handshakes:,}",
    )


def _bytes_agree(trial: Trial) -> Check:
    name = "received bytes = completed connections x response length"
    received = trial.traffic.received_bytes
    if trial.response_bytes is None:
        reason = "the response length was not probed"
        return Check(name=name, holds=None, wanted="unknown", seen=str(received), reason=reason)
    wanted = trial.traffic.completed * trial.response_bytes
    return Check(
        name=name,
        holds=received == wanted,
        wanted=str(wanted),
        seen=str(received),
    )


def _server_agrees(trial: Trial) -> Check:
    name = "requests counted by the server = completed connections"
    served = trial.traffic.server_requests
    wanted = trial.traffic.completed
    if served is None:
        return Check(
            name=name,
            holds=None,
            wanted=str(wanted),
            seen="unknown",
            reason="this server keeps no count",
        )
    return Check(name=name, holds=served == wanted, wanted=str(wanted), seen=str(served))


def _receive_work_is_the_servers(readings: Readings) -> Check:
    name = "share of receive work on the server's cores"
    share = core_time.receive_share(readings)
    wanted = f">= {RECEIVE_SHARE:.0%}"
    idle = flows.why_no_connection(readings)
    if share is None or idle:
        reason = idle or core_time.why_no_receive_share(readings) or "no softirq time was read"
        return Check(name=name, holds=None, wanted=wanted, seen="unknown", reason=reason)
    return Check(name=name, holds=share >= RECEIVE_SHARE, wanted=wanted, seen=f"{share:.1%}")


def _time_is_accounted(readings: Readings) -> Check:
    """Whether every moment of the main phase was booked to some kind of time."""
    name = "user + system + irq + softirq + idle (stolen time included) = wall time x cores"
    found = accounted_time(readings.at(readings.trial.traffic.main_phase))
    if found is None:
        reason = readings.why_unknown(CPU_EXACT_TIME) or "exact CPU time was not read"
        wanted = f"within {TOLERANCE:.0%}"
        return Check(name=name, holds=None, wanted=wanted, seen="unknown", reason=reason)
    ticks = "unknown" if found.ticks is None else f"{found.ticks:.3f} s"
    stolen = "unknown" if found.stolen is None else f"{found.stolen:.3f} s"
    return Check(
        name=name,
        holds=found.is_whole,
        wanted=f"{found.wall:.3f} s within {TOLERANCE:.0%}",
        seen=f"{found.exact:.3f} s ({found.share:.2%}); stolen {stolen}; /proc/stat {ticks}",
    )
