"""The mark of trials whose server's side ran in a guest of this suite or on an emulated host."""

from collections.abc import Iterable

from stackcost.analysis.readings import Readings
from stackcost.contracts.metrics import MACHINE_GUEST

EMULATION = "emulation"
MARK = "measured in "  # what a mark begins with


def guest_by(readings: Readings) -> str:
    """What ran the guest: "KVM" or EMULATION; empty of other machines."""
    return next(
        (
            series[0].labels["by"]
            for series in readings.series(MACHINE_GUEST)
            if series[0].labels.get("by")
        ),
        "",
    )


def why_no_time(readings: Readings) -> str:
    """Why a trial has no CPU time that means anything; empty if it has.

    An emulator translates instructions, so a second of it is the emulator's work and not that of
    the processor that it stands for. Counts and bytes are right.
    """
    if guest_by(readings) != EMULATION:
        return ""
    return "the server's host is emulated: its CPU time is that of the emulator"


def mark(readings: Readings) -> list[str]:
    """The mark in words, for the trial's flags; empty of other machines."""
    by = guest_by(readings)
    if by == EMULATION:
        return [f"{MARK}an emulated guest, which shows that it works, and no cost"]
    return [f"{MARK}a guest on {by}"] if by else []


def marks_among(flags: Iterable[str]) -> list[str]:
    """The marks among flags of trials, each once."""
    return list(dict.fromkeys(flag for flag in flags if flag.startswith(MARK)))
