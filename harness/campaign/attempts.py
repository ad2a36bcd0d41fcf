"""How a run keeps its trials: each is stored whatever ended it, and made again when disturbed."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from harness.session.server_session import ServerSession
from stackcost.analysis.checks import suspended
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.trial import Trial
from stackcost.store import RunFolder

Made = TypeVar("Made")


@contextmanager
def storing(run: RunFolder, session: ServerSession, trial: Trial) -> Iterator[None]:
    """Store a trial as soon as it is over; one that is cut short too, with a flag that says so.

    One that was to be on a stack and went through the kernel's is marked so, and is in no figure of
    that stack. StackcostError naming the part that ended, when a part of the session did.
    """
    if state := session.server.before_trial():
        trial.load["before"] = state
    session.look("before")
    asleep = _asleep_s()
    try:
        yield
        session.check_parts()
        trial.load["suspended_s"] = _asleep_s() - asleep
        trial.flags += suspended(trial)
        _mark_carrier(session, trial)
    except BaseException as error:
        trial.flags.append("cut short")
        trial.set_aside = "cut short"
        if isinstance(error, Exception):
            session.check_parts()  # a part that ended is the cause, and the error its effect
        raise
    finally:
        if trial.samples:
            run.add_trial(trial)


def _asleep_s() -> float:
    """Seconds since boot in which the machine was suspended (clock_gettime(2), CLOCK_BOOTTIME)."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


def _mark_carrier(session: ServerSession, trial: Trial) -> None:
    """What carried its connections; an idle trial has none, and shows what would."""
    session.look("after")
    trial.load["stack"] = session.stack.proof(idle=trial.load.get("open_flows") == 0)
    for what in ("stack", "clients_stack"):
        proof = trial.load.get(what)
        if proof and proof["carried"] != proof["wanted"]:
            why = f"carried by the kernel's stack, not by {proof['wanted']}: {proof['why']}"
            trial.set_aside = why if what == "stack" else f"clients were {why}"
            trial.flags.append("carried by the kernel's stack")


def check_carrier(trial: Trial) -> None:
    """StackcostError when another stack carried the trial: for a search, and a gate, the end."""
    proof = trial.load["stack"]
    if proof["carried"] != proof["wanted"]:
        raise StackcostError(f"{trial.server}: {trial.set_aside}")


def until_undisturbed(
    measure: Callable[[int], Made], disturbed: Callable[[Made], object], repeats: int
) -> list[Made]:
    """A trial and its repeats in order, `repeats` at most; `measure` gets 0, or which repeat."""
    attempts: list[Made] = []
    for repeat in range(repeats + 1):
        attempts.append(measure(repeat))
        if not disturbed(attempts[-1]):
            break
    return attempts
