"""What must hold for a trial's figures to be believed, each computed from the trial's own data.

`flags` are reasons to distrust one trial; `checks` state what was compared, with both values, also
when it holds.
"""

from collections.abc import Collection

from pydantic import BaseModel, ConfigDict

from stackcost.analysis import core_time, flows, traffic
from stackcost.analysis.closure import TOLERANCE, closure
from stackcost.analysis.device import has_server_behind
from stackcost.analysis.readings import Readings
from stackcost.analysis.slowed import slowed_share
from stackcost.analysis.thresholds import (
    FOREIGN_LIMIT,
    GENERATOR_BUSY_LIMIT,
    LATE_LIMIT,
    RATE_TOLERANCE,
    RECEIVE_SHARE,
    SLOWED_LIMIT,
    STEAL_LIMIT,
    SUSPENDED_LIMIT_S,
    UNDISTURBED_LEAST_S,
    VARIATION_LIMIT,
)
from stackcost.analysis.undisturbed import undisturbed
from stackcost.contracts.load import ESTABLISHED, HeldFlows
from stackcost.contracts.trial import Trial


class Check(BaseModel):
    """One comparison. `holds` is None when one side is unknown; `reason` then says why."""

    model_config = ConfigDict(frozen=True)

    name: str
    holds: bool | None
    wanted: str
    seen: str
    reason: str = ""


def flags(seen: Readings, server_cpus: Collection[int]) -> list[str]:
    """Reasons to distrust a trial; empty is good."""
    trial = seen.trial
    found = disturbances(seen, server_cpus)
    if flows.failed(trial):
        found.append(f"{flows.failed(trial)} connections failed")
    if traffic.cut_flows(trial):
        found.append(f"{traffic.cut_flows(trial)} flows had not ended when the drain was over")
    if flows.retransmitted(trial):
        found.append(f"{flows.retransmitted(trial)} segments retransmitted")
    found += _collector_flags(trial)
    load = trial.traffic
    return found + (_hold_flags(load) if isinstance(load, HeldFlows) else _rate_flags(seen))


def disturbances(seen: Readings, server_cpus: Collection[int]) -> list[str]:
    """What the generator or the machine did to a trial; no fault of the server's.

    Such a trial says little of the server, so it is worth repeating.
    """
    trial, phase = seen.trial, main_phase(seen.trial)
    found = generator_limits(seen) + suspended(trial)
    if not is_hold(trial):  # for flows held open it matters how many there are, not when they came
        found += late_starts(seen)
    steal = core_time.steal_share(seen, phase)
    if steal is not None and steal > STEAL_LIMIT:
        found.append(f"{steal:.1%} of CPU time stolen by the hypervisor")
    foreign = None if is_hold(trial) else core_time.foreign_share(seen, server_cpus)
    if foreign is not None and foreign > FOREIGN_LIMIT:
        found.append(f"other programs took {foreign:.1%} of the server's cores")
    if not is_hold(trial):
        found += _slowed(seen, server_cpus)
    return found + _moved_limits(seen)


def suspended(trial: Trial) -> list[str]:
    """Whether the machine slept during the trial; older trials do not say."""
    asleep = trial.suspended_s or 0.0
    if asleep <= SUSPENDED_LIMIT_S:
        return []
    return [f"the machine was suspended for {asleep:.1f} s"]


def _slowed(seen: Readings, server_cpus: Collection[int]) -> list[str]:
    """Whether the server's cores were slowed too long for the rest of the trial to be its cost."""
    slowed, found = slowed_share(seen, server_cpus), undisturbed(seen, server_cpus)
    if slowed is None or slowed <= SLOWED_LIMIT or (found and found.enough):
        return []
    but = f", but for {found.seconds:.1f} s (wanted {UNDISTURBED_LEAST_S:.1f} s)" if found else ""
    return [f"the server's cores were {slowed:.1%} slower than they can be{but}"]


def _moved_limits(seen: Readings) -> list[str]:
    """The limit of connection tracking is the whole machine's: any program may change it."""
    limits = dict.fromkeys(s.value for s in seen.samples("conntrack.limit") if s.value is not None)
    if len(limits) < 2:
        return []
    course = ", then ".join(f"{limit:,.0f}" for limit in limits)
    return [f"nf_conntrack_max was {course}: another program set it in mid-trial"]


def generator_limits(seen: Readings) -> list[str]:
    """Signs that the generator did not offer what was asked of it."""
    busy = core_time.engine_busy_share(seen, "generator", main_phase(seen.trial))
    over = busy is not None and busy > GENERATOR_BUSY_LIMIT
    found = [f"generator {busy:.0%} busy, above {GENERATOR_BUSY_LIMIT:.0%}"] if over else []
    kept = traffic.schedule(seen.trial)
    if kept and kept.intended > kept.opened:
        found.append(f"{kept.intended - kept.opened} connections of the schedule not started")
    return found


def late_starts(seen: Readings) -> list[str]:
    """Whether too many connections came too late, and then in bunches."""
    kept = traffic.schedule(seen.trial)
    if kept and kept.opened and kept.late / kept.opened > LATE_LIMIT:
        return [f"{kept.late / kept.opened:.1%} of connections started late by the schedule"]
    return []


def is_hold(trial: Trial) -> bool:
    """Whether flows were held open; otherwise it is a load trial."""
    return isinstance(trial.traffic, HeldFlows)


def is_established_hold(trial: Trial) -> bool:
    """Whether the held flows were established and untracked: what the memory factor compares."""
    return is_hold(trial) and state_of(trial) == ESTABLISHED


def state_of(trial: Trial) -> str:
    """The state in which a trial's flows were held."""
    return trial.traffic.state if isinstance(trial.traffic, HeldFlows) else ESTABLISHED


def main_phase(trial: Trial) -> str:
    """The phase that a trial's figures are taken from."""
    return "hold" if is_hold(trial) else "sustain"


def _collector_flags(trial: Trial) -> list[str]:
    """Collectors that read in this trial and failed in it too: what they lack is unknown."""
    read = {sample.metric for sample in trial.samples if sample.value is not None}
    lost = {
        sample.reason
        for sample in trial.samples
        if sample.value is None and not sample.labels and sample.metric in read
    }
    return [f"failed in mid-trial: {reason}" for reason in sorted(lost)]


def _hold_flags(load: HeldFlows) -> list[str]:
    if load.held_flows is None:
        return ["held flows were not counted"]
    if load.held_flows == load.open_flows:
        return []
    return [f"{load.held_flows:g} flows held open, not {load.open_flows}"]


def _rate_flags(seen: Readings) -> list[str]:
    rate, offered = flows.completed_rate(seen), seen.trial.offered_cps
    if rate is None:
        return ["connections of the sustain window were not counted"]
    found = []
    if abs(rate - offered) > RATE_TOLERANCE * offered:
        found.append(f"completed {rate:.0f} connections/s of {offered:.0f} offered")
    steady = traffic.steadiness(seen.trial)
    if steady and steady.variation > VARIATION_LIMIT:
        found.append(f"the rate wavered by {steady.variation:.1%} from second to second")
    return found


def checks(seen: Readings, server_cpus: Collection[int]) -> list[Check]:
    """The comparisons of one trial; of one that held flows open, that its account of time closes.

    A peer that speaks frames itself leaves no receive work to the kernel, so none is compared. A
    server behind a device has its own on the generator's cores.
    """
    trial = seen.trial
    if is_hold(trial):
        return [time_closes(seen)]
    found = [_counts_agree(trial), _bytes_agree(trial), _server_agrees(trial), time_closes(seen)]
    if not core_time.has_peer(seen) and not has_server_behind(trial):
        found.append(_receive_work_is_the_servers(seen, server_cpus))
    return found


def _counts_agree(trial: Trial) -> Check:
    names = ("tcps_connattempt", "tcps_connects", "tcps_closed")
    attempted, established, closed = (flows.client_counter(trial, name) for name in names)
    return Check(
        name="attempted = established = closed, none failed or retransmitted",
        holds=attempted == established == closed > 0
        and not flows.failed(trial)
        and not flows.retransmitted(trial),
        wanted="equal, 0, 0",
        seen=f"{attempted} = {established} = {closed}, {flows.failed(trial)}, "
        f"{flows.retransmitted(trial)}",
    )


def _bytes_agree(trial: Trial) -> Check:
    name = "received bytes = completed connections x probed response length"
    received = flows.client_counter(trial, "tcps_rcvbyte")
    if trial.response_bytes is None:
        reason = "the response was not probed"
        return Check(name=name, holds=None, wanted="unknown", seen=str(received), reason=reason)
    wanted = flows.completed(trial) * trial.response_bytes
    return Check(
        name=name,
        holds=received == wanted,
        wanted=str(wanted),
        seen=str(received),
    )


def _server_agrees(trial: Trial) -> Check:
    name = "requests by the server's own count = completed connections"
    served = traffic.server_requests(trial)
    wanted = flows.completed(trial)
    if served is None:
        return Check(
            name=name,
            holds=None,
            wanted=str(wanted),
            seen="unknown",
            reason="this server keeps no count",
        )
    return Check(name=name, holds=served == wanted, wanted=str(wanted), seen=str(served))


def _receive_work_is_the_servers(seen: Readings, server_cpus: Collection[int]) -> Check:
    name = "share of receive work on the server's cores"
    share = core_time.receive_share(seen, server_cpus)
    wanted = f">= {RECEIVE_SHARE:.0%}"
    if share is None:
        reason = seen.why_unknown("softirq.time") or "no softirq time was read"
        return Check(name=name, holds=None, wanted=wanted, seen="unknown", reason=reason)
    return Check(name=name, holds=share >= RECEIVE_SHARE, wanted=wanted, seen=f"{share:.1%}")


def time_closes(seen: Readings) -> Check:
    """Whether every moment of the main phase was booked to some kind of time."""
    name = "user + system + irq + softirq + idle, stolen time in them = wall time x cores"
    found = closure(seen, main_phase(seen.trial))
    if found is None:
        reason = seen.why_unknown("cpu.exact_time") or "exact CPU time was not read"
        wanted = f"within {TOLERANCE:.0%}"
        return Check(name=name, holds=None, wanted=wanted, seen="unknown", reason=reason)
    ticks = "unknown" if found.ticks is None else f"{found.ticks:.3f} s"
    stolen = "unknown" if found.stolen is None else f"{found.stolen:.3f} s"
    return Check(
        name=name,
        holds=found.closes,
        wanted=f"{found.wall:.3f} s within {TOLERANCE:.0%}",
        seen=f"{found.exact:.3f} s ({found.share:.2%}); stolen {stolen}; /proc/stat {ticks}",
    )
