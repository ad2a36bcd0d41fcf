"""Reasons to distrust a trial, found each time that it is read: no trial stores them.

A changed rule or limit therefore applies to old runs too. The decision to repeat a disturbed trial
is the only one that is taken while a run goes, by `disturbances`, and what came of it is stored:
which trial was set aside, and why.
"""

from collections.abc import Callable

from hdrh.histogram import HdrHistogram

from stackcost.analysis.cost import core_time, flows, generators
from stackcost.analysis.cost.guest import mark, why_no_time
from stackcost.analysis.cost.http import busy_share, load_cpus
from stackcost.analysis.cost.slowed import slowed_share
from stackcost.analysis.cost.undisturbed import undisturbed
from stackcost.analysis.readings import Readings
from stackcost.analysis.steadiness import (
    Steadiness,
    completed_series,
    served_series,
    steadiness,
)
from stackcost.analysis.trial import thresholds
from stackcost.analysis.trial.diagnosis import diagnosis
from stackcost.analysis.trial.limits import full_accept_queue, limits_reached
from stackcost.contracts import metrics
from stackcost.contracts.counts import NOT_SEEN, Histograms, StackCheck
from stackcost.contracts.latency import TLS_HANDSHAKE
from stackcost.contracts.load import rate_words
from stackcost.contracts.load.base import Failure, Flag, Load
from stackcost.contracts.trial import CUT_SHORT, Trial
from stackcost.contracts.words import count

FULL, NOT_FULL = 0.95, 0.90  # shares of cores' time


def flags_of(readings: Readings) -> list[str]:
    """Reasons to distrust a trial, in words; empty is good.

    Of a trial that was cut short that alone.
    """
    trial = readings.trial
    if trial.set_aside == CUT_SHORT:
        return [CUT_SHORT]
    found = failures_of(readings)
    for flag in trial.traffic.flags:
        found += FLAGS[flag](readings)
    return [*found, *_kernel_log(readings), *_of_clocks(readings), *mark(readings)]


def failures_of(readings: Readings) -> list[str]:
    """Of the flags those that say that a part of the load was not served as asked: its figures are
    of the rest. They come first, and each says how many.
    """
    trial, found = readings.trial, list[str]()
    if trial.set_aside == CUT_SHORT:
        return []
    for failure in trial.traffic.failures:
        found += FAILURES[failure](readings)
    # Of the server's connections, and of HTTP clients'.
    both = trial.stack_check, trial.traffic.stack_check
    carriers = [_of_stack(each) for each in both if each and not each.as_wanted]
    return list(dict.fromkeys(found + carriers))


def disturbances(readings: Readings) -> list[str]:
    """What the machine or the load's side did to a trial; no fault of the server's.

    Such a trial says little of the server, so it is worth repeating. The machine comes first: what
    it does makes a generator late, too.
    """
    trial = readings.trial
    found = machine_disturbances(readings.at(trial.traffic.main_phase))
    found += generator_limits(readings)
    if not trial.traffic.holds:  # of held flows it matters how many there are, not when they came
        found += late_starts(readings)
        found += _offered_otherwise(readings)
    found += _moved_limits(readings)
    if trial.traffic.ended_early:
        found.append("the clients ended before the last reading")
    return found + _clients_not_running(readings)


def machine_disturbances(readings: Readings) -> list[str]:
    """What the machine alone did to a trial in a phase."""
    found = _suspended(readings)
    if not why_no_time(readings):
        found += _disturbed_cores(readings)
    return found


def _clients_not_running(readings: Readings) -> list[str]:
    """Whether an HTTP client could not run for a part of the window, however short that is."""
    load, window = readings.trial.traffic, readings.phases.get("sustain")
    if window is None:
        return []
    return [
        f"a client {what} for {seconds:.1f} s of the window of {window.length:.1f} s"
        for what, seconds, limit in (
            ("was stopped", load.stopped_s, thresholds.CLIENT_STOPPED_LIMIT),
            ("waited for its core", load.waited_s, thresholds.CLIENT_WAITED_LIMIT),
        )
        if seconds is not None and seconds > limit * window.length
    ]


def _disturbed_cores(readings: Readings) -> list[str]:
    """What falsifies CPU time, the largest share first: it is the cause to look for.

    An emulated host has none: its cores are programs among others.
    """
    found = [
        (share, f"{share:.1%} of core {cpu}'s time stolen by the hypervisor")
        for cpu, share in sorted(core_time.steal_shares(readings).items())
        if share > thresholds.STEAL_LIMIT
    ]
    if not readings.trial.traffic.holds:
        foreign = core_time.foreign_share(readings)
        if foreign is not None and foreign > thresholds.FOREIGN_LIMIT:
            found.append((foreign, f"other programs took {foreign:.1%} of the server's cores"))
        found += _slowed(readings)
    return [words for _, words in sorted(found, key=lambda each: -each[0])]


def generator_limits(readings: Readings) -> list[str]:
    """Signs that the generator, or one of several, did not offer the planned load."""
    found = generators.limits(readings)
    kept = readings.trial.traffic.schedule
    if kept and kept.intended > kept.opened:
        found.append(
            count(kept.intended - kept.opened, "connection") + " of the schedule not started"
        )
    return found


def late_starts(readings: Readings) -> list[str]:
    """Whether too many connections came too late, and then in bunches."""
    kept = readings.trial.traffic.schedule
    if kept and kept.opened and kept.late / kept.opened > thresholds.LATE_LIMIT:
        return [f"{kept.late / kept.opened:.1%} of connections started later than scheduled"]
    return []


def _offered_otherwise(readings: Readings) -> list[str]:
    """Whether the window missed the load, or the generator began less of it there, or more.

    Of a rate so low that a window may have no connection, nothing is said.
    """
    offered = readings.trial.offered_cps
    if "rate missed" not in readings.trial.traffic.failures or "sustain" not in readings.phases:
        return []
    if offered * readings.phases["sustain"].length < 1:
        return []
    if flows.missed(readings):
        return [flows.why_no_connection(readings)]
    begun = flows.begun_rate(readings)
    if begun is None or abs(begun - offered) <= thresholds.RATE_TOLERANCE * offered:
        return []
    return [f"the generator began {rate_words(begun)} connections/s of {rate_words(offered)}"]


def steadiness_of(readings: Readings) -> Steadiness | None:
    """How steady the rate of a load trial was in its sustain window; None with too few readings.

    Of a profile's completed connections, of HTTP clients' requests by the server's own count.
    """
    window = readings.phases.get("sustain")
    if window is None:
        return None
    if readings.trial.traffic.unit == "request":
        return steadiness(served_series(readings.samples(metrics.SERVER_REQUESTS), window))
    return steadiness(completed_series(readings.samples(metrics.TREX_COUNTER), window))


def _suspended(readings: Readings) -> list[str]:
    """Whether the machine slept during the trial."""
    asleep = readings.trial.suspended_s or 0.0
    if asleep <= thresholds.SUSPENDED_LIMIT_S:
        return []
    return [f"the machine was suspended for {asleep:.1f} s"]


def _of_clocks(readings: Readings) -> list[str]:
    """Whether samples of two hosts are cut to the same window less exactly than a window needs."""
    window = readings.phases.get(readings.trial.traffic.main_phase)
    if window is None:
        return []
    return [
        f"the clock of host {host} is known to {1000 * clock.error_s:.1f} ms only, which is more "
        f"than {thresholds.CLOCK_LIMIT:.0%} of the window of {window.length:.1f} s"
        for host, clock in readings.trial.clocks.items()
        if clock.error_s > thresholds.CLOCK_LIMIT * window.length
    ]


def _slowed(readings: Readings) -> list[tuple[float, str]]:
    """By how much the server's cores were slowed, and words for it, if that was too long for the
    rest of the trial to be its cost.
    """
    slowed, found = slowed_share(readings), undisturbed(readings)
    if slowed is None or slowed <= thresholds.SLOWED_LIMIT or (found and found.enough):
        return []
    least = thresholds.UNDISTURBED_LEAST_S
    but = f", except for {found.seconds:.1f} s ({least:.1f} s are needed)" if found else ""
    return [(slowed, f"the server's cores were {slowed:.1%} slower than at full speed{but}")]


def _kernel_log(readings: Readings) -> list[str]:
    """Messages of trouble in the kernel's log between the first and the last reading."""
    counts = {}
    for series in readings.series(metrics.KERNEL_LOG_MESSAGES):
        known = [sample.value for sample in series if sample.value is not None]
        if known and known[-1] > known[0]:
            counts[series[0].labels["kind"]] = known[-1] - known[0]
    return [
        f"the kernel's log has {count:.0f} new message{'s' * (count > 1)} of the kind: {kind}"
        for kind, count in counts.items()
    ]


def _moved_limits(readings: Readings) -> list[str]:
    """The limit of connection tracking is the whole machine's: any program may change it."""
    limits = dict.fromkeys(
        s.value for s in readings.samples(metrics.CONNTRACK_LIMIT) if s.value is not None
    )
    if len(limits) < 2:
        return []
    limits_in_order = ", then ".join(f"{limit:,.0f}" for limit in limits)
    return [f"nf_conntrack_max was {limits_in_order}: another program changed it during the trial"]


def _of_readings(readings: Readings) -> list[str]:
    """What went wrong with reading a profile's connections, and what was sent again."""
    trial, found = readings.trial, _not_counted(readings)
    if "connections failed" in trial.traffic.failures and _all_served(trial.traffic):
        found += _signs(readings)
    overrun = trial.traffic.overrun_s or 0.0
    if overrun > thresholds.OVERRUN_LIMIT_S:
        found.append(
            f"what is read under load was read until {overrun:.1f} s after the load had ended: "
            "limits and counters may be those of an idle server"
        )
    if (tls := trial.traffic.tls) and tls.lacked_memory:
        found.append(f"the generator's memory for TLS was used up {tls.lacked_memory:,} times")
    if tls and tls.cut_segments:
        found.append(
            f"the generator's port cut {count(tls.cut_segments, 'segment')}, which came again"
        )
    found += _late_handshakes(readings)
    if (network := trial.traffic.network) and network.no_room:
        found.append(
            f"the generator had no room for {count(network.no_room, 'frame')} of the network"
        )
    if trial.traffic.unexpectedly_retransmitted:
        found.append(f"{count(trial.traffic.retransmitted, 'segment')} retransmitted")
    return found + _failed_collectors(trial)


def _not_counted(readings: Readings) -> list[str]:
    """What a server was asked for and was not counted: it may have served it."""
    load = readings.trial.traffic
    if "flows not held" in load.failures and load.held_flows is None:
        return ["held flows were not counted"]
    counted = flows.completed_rate(readings) is not None or flows.missed(readings)
    if "rate missed" in load.failures and not counted:
        return ["connections of the sustain window were not counted"]
    return []


def _late_handshakes(readings: Readings) -> list[str]:
    """Whether handshakes were waiting for the generator's core for a large part of their time."""
    tls, latency = readings.trial.traffic.tls, readings.trial.traffic.latency
    if tls is None or not latency or not tls.handshakes:
        return []
    connect, handshake = (_mean_us(latency, kind) for kind in ("connect", TLS_HANDSHAKE))
    if connect is None or handshake is None:  # none ended inside the window
        return []
    took, waited = handshake - connect, tls.waited_us / tls.handshakes
    if waited <= thresholds.TLS_WAIT_LIMIT * took:
        return []
    return [
        f"handshakes waited {waited:,.0f} us of their {took:,.0f} us for the generator's core "
        f"(at most {tls.longest_waited_us:,} us)"
    ]


def _mean_us(latency: Histograms, kind: str) -> float | None:
    """The mean over all template groups; None if none reached this point."""
    read = [HdrHistogram.decode(kinds[kind]) for kinds in latency.values() if kind in kinds]
    counted = sum(each.get_total_count() for each in read)
    whole = sum(each.get_mean_value() * each.get_total_count() for each in read)
    return whole / counted if counted else None


def _failed_connections(readings: Readings) -> list[str]:
    """How many of a profile's connections failed, the limits they met, and where they were lost."""
    load, found = readings.trial.traffic, list[str]()
    if load.failed:
        attempted = load.counter("tcps_connattempt")
        found.append(f"{load.failed:,} of {attempted:,} connections failed")
    if load.tls and load.tls.failures:
        found.append(load.tls.failures)
    if load.cut_flows:
        found.append(f"{count(load.cut_flows, 'flow')} had not ended at the end of the drain")
    if not _all_served(load):
        found += _signs(readings)
    return found + _other_statuses(load)  # causes come first


def _all_served(load: Load) -> bool:
    """Whether each connection came to its end: what was lost on the way was sent again."""
    begun = load.counter("tcps_connattempt")
    return not load.failed and not load.cut_flows and load.completed >= begun


def _signs(readings: Readings) -> list[str]:
    """Where a load was held up, by what was counted."""
    return _of_limits(readings) + [sign.words for sign in diagnosis(readings)]


def _other_statuses(load: Load) -> list[str]:
    """Whether some answers are errors, which are as good as others to who counts their bytes."""
    asked = load.statuses or {}
    others = {status: n for status, n in asked.items() if not status.startswith("2")}
    if not others:
        return []
    named = ", ".join(f"{status} ({n})" for status, n in others.items())
    return [
        f"{sum(others.values())} of {sum(asked.values())} requests made after the load had no "
        f"answer of status 200: {named}"
    ]


def _failed_requests(readings: Readings) -> list[str]:
    """How many of HTTP clients' requests failed or were not answered, and the limits they met."""
    found, load = list[str](), readings.trial.traffic
    if load.failed:
        found.append(f"{count(load.failed, 'request')} failed")
    if load.http_settings and load.answered is not None:
        asked = load.http_settings.all_connections
        if asked - load.answered > thresholds.LOST_LIMIT * asked:
            words = f"{asked - load.answered:,} of {asked:,} connections were not answered once"
            found.append(words)
    if load.counted and load.counted.unsent:
        found.append(f"{load.counted.unsent:,} requests were scheduled but not answered by the end")
    if none := flows.why_no_connection(readings):
        found.append(none)
    return found + _of_limits(readings)


def _of_limits(readings: Readings) -> list[str]:
    """Limits that were reached: what is beyond them fails, or waits, whatever it would cost."""
    full = full_accept_queue(readings)
    return [*(reached.words for reached in limits_reached(readings)), *([full] if full else [])]


def _failed_collectors(trial: Trial) -> list[str]:
    """Collectors that read in this trial and failed in it too: what they lack is unknown."""
    read = {sample.metric for sample in trial.samples if sample.value is not None}
    lost = {
        sample.reason
        for sample in trial.samples
        if sample.value is None and not sample.labels and sample.metric in read
    }
    return [f"failed during the trial: {reason}" for reason in sorted(lost)]


def _of_hold(readings: Readings) -> list[str]:
    load = readings.trial.traffic
    if load.held_flows is None or load.held_flows == load.open_flows:
        return []
    return [f"{load.held_flows:,.10g} flows held open, not {load.open_flows:,}"]


def _of_rate(readings: Readings) -> list[str]:
    rate, offered = flows.completed_rate(readings), readings.trial.offered_cps
    if rate is None or rate >= (1 - thresholds.RATE_TOLERANCE) * flows.asked_rate(readings):
        return []
    return [f"completed {rate_words(rate)} connections/s of {rate_words(offered)} offered"]


def _of_number(readings: Readings) -> list[str]:
    load = readings.trial.traffic
    missing = (load.connections or 0) - load.completed - load.failed
    return [f"{missing:,} of {load.connections:,} connections were not made"] if missing > 0 else []


def _wavered(readings: Readings, limit: float) -> list[str]:
    steady = steadiness_of(readings)
    if steady is None or steady.variation <= limit:
        return []
    return [f"the rate varied by {steady.variation:.1%} from second to second"]


def _of_clients(readings: Readings) -> list[str]:
    found = _what_set_the_rate(readings)
    found += _wavered(readings, thresholds.CLOSED_LOOP_VARIATION_LIMIT)
    overflows = readings.growth(metrics.TCP_COUNTER, counter="TcpExtListenOverflows")
    if overflows:
        found.append(f"the accept queue was full {overflows:.0f} times: SYNs were retransmitted")
    return found


def _of_stack(stack_check: StackCheck) -> str:
    if stack_check.carried == NOT_SEEN:
        return f"not seen to be carried by {stack_check.wanted}"
    return "carried by the kernel's stack"


def _what_set_the_rate(readings: Readings) -> list[str]:
    """Whether the rate of HTTP clients was set by something else than the server."""
    clients, server = busy_share(readings.on(load_cpus(readings))), busy_share(readings)
    if clients is None or server is None:
        return []
    told = limit_beside_server(clients, server, bool(readings.trial.offered_cps))
    return [told] if told else []


def limit_beside_server(clients: float, server: float, offered: bool, others: float = 0.0) -> str:
    """What else than the server set the rate of HTTP clients, in words; empty if nothing did.

    `clients`, `server`: the busy shares (0 to 1) of their cores. `offered`: whether the clients had
    a rate to send at. `others`: what other programs had of the server's cores; a trial has a flag
    of its own for less of it.
    """
    if not offered and others > 1 - NOT_FULL:
        return f"other programs took {others:.0%} of the server's cores"
    if clients > FULL and server < NOT_FULL:
        return (
            f"the clients' cores were full ({clients:.0%}) and the server's were not "
            f"({server:.0%}): the clients were the limit"
        )
    if not offered and max(clients, server) < thresholds.CLOSED_LOOP_BUSY_LIMIT:
        return (
            f"neither the clients' cores ({clients:.0%} busy) nor the server's ({server:.0%}) set "
            "the rate: the connections waited for something else, such as delayed acknowledgments"
        )
    return ""


FAILURES: dict[Failure, Callable[[Readings], list[str]]] = {
    "connections failed": _failed_connections,
    "connections missing": _of_number,
    "requests failed": _failed_requests,
    "rate missed": _of_rate,
    "flows not held": _of_hold,
}
FLAGS: dict[Flag, Callable[[Readings], list[str]]] = {
    "disturbed": disturbances,
    "suspended": _suspended,
    "readings": _of_readings,
    "unsteady": lambda readings: _wavered(readings, thresholds.VARIATION_LIMIT),
    "closed loop": _of_clients,
}
