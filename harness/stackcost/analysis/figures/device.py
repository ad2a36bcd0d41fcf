"""Figures of a device under test: where frames were lost, its tracking, and mixed traffic."""

from stackcost.analysis.device.device import lost_frames, tracking_events
from stackcost.analysis.device.mix import MixSteps, Step
from stackcost.analysis.figures.figure import Figure, Values
from stackcost.analysis.figures.groups import Group


def _lost(group: Group) -> dict[str, Values]:
    found = [lost_frames(readings.trial) for readings in group.trials]
    kinds = ("before", "inside", "after", "somewhere")
    return group.of_each(
        [{kind: float(getattr(each, kind)) for kind in kinds} if each else {} for each in found],
        "frames were not counted in this trial",
    )


def _tracking(group: Group) -> dict[str, Values]:
    counted = [tracking_events(readings) for readings in group.trials]
    grown = dict.fromkeys(name for each in counted for name, count in each.items() if count)
    return group.of_each([{name: float(each.get(name, 0)) for name in grown} for each in counted])


def _ceiling(mixed: MixSteps) -> Values:
    if mixed.whole and mixed.suffered:
        return Values([mixed.whole[-1].flows_per_second], ())
    reason = "no application lost traffic at any load" if mixed.whole else "losses at every load"
    return Values([None], (), reason)


FRAMES_LOST = Figure[Group](
    name="frames_lost",
    unit="1",
    definition="frames that were lost in the whole trial, both ways, by where",
    source="the generator's counters of its ports; /proc/net/dev of the device's namespace",
    of="device",
    kinds={
        "before": (
            "frames that the generator sent and the device did not receive",
            "the generator's counters; /proc/net/dev",
        ),
        "inside": (
            "frames that the device received and did not send on; frames of its own (resets, ICMP, "
            "ARP) hide as many",
            "/proc/net/dev of the device's namespace",
        ),
        "after": (
            "frames that the device sent and the generator did not receive",
            "/proc/net/dev; the generator's counters",
        ),
        "somewhere": (
            "frames that were lost where the device is not read",
            "the generator's counters of its ports",
        ),
    },
    compute=_lost,
)
TRACKING = Figure[Group](
    name="tracking",
    unit="1",
    definition="growth of a counter of connection tracking in the whole trial, if it grew",
    source="/proc/net/stat/nf_conntrack",
    of="device",
    compute=_tracking,
)
MIX_CEILING = Figure[MixSteps](
    name="mix.ceiling",
    unit="mixed flows/s",
    definition="highest load of mixed traffic up to which each application had 99 % of its "
    "connections established at the first SYN, and of its datagrams answered",
    source="the generator's counters by template group",
    of="device",
    judged=True,
    compute=_ceiling,
)
MIX_STARTED = Figure[Step](
    name="mix.started",
    unit="mixed flows/s",
    definition="mixed flows that the generator started",
    source="tcps_connattempt and udps_connects by template group",
    of="device",
    compute=lambda step: Values([step.started], ()),
)
MIX_WHOLE = Figure[Step](
    name="mix.whole",
    unit="1",
    definition="share of an application's connections established at the first SYN, or of its "
    "datagrams answered",
    source="tcps_rexmttimeo_syn, tcps_connattempt, udps_rcvpkt, udps_sndpkt by template group",
    of="device",
    compute=lambda step: {
        group: Values([share], (), "it began no connection") for group, share in step.whole.items()
    },
)
MIX_TABLE_FULL = Figure[Step](
    name="mix.table_full",
    unit="1",
    definition="1 where the device could not track another connection, else 0",
    source="conntrack.entries and conntrack.limit",
    of="device",
    compute=lambda step: Values([float(step.table_full)], ()),
)
