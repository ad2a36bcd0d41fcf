"""Stores the trials of a run: every trial is stored, however it ends."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.trial import CUT_SHORT, Trial
from stackcost.hosts.clock import over_a_trial
from stackcost.session.server_session import ServerSession
from stackcost.store import RunFolder


@contextmanager
def storing(run: RunFolder, session: ServerSession, trial: Trial) -> Iterator[None]:
    """Store a trial as soon as it ends. A trial that is cut short is marked and not used.

    A trial whose connections were not seen to go through the wanted stack is also marked and not
    used. StackcostError names the part of the session that ended, if one did.
    """
    trial.before = session.serving.before_trial()
    session.check_stack("before")
    clocks, asleep = session.serving.clocks(), _asleep_s()
    try:
        yield
        session.check_parts()
        trial.suspended_s = _asleep_s() - asleep
        _mark_stack(session, trial)
        trial.clocks = over_a_trial(clocks, session.serving.clocks())
    except BaseException as error:
        trial.set_aside = CUT_SHORT
        if isinstance(error, Exception):
            session.check_parts()  # if a part ended, that is the cause of the error
        raise
    finally:
        if trial.samples:
            run.add_trial(trial)


def _asleep_s() -> float:
    """Seconds since boot in which the machine was suspended (clock_gettime(2), CLOCK_BOOTTIME)."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


def _mark_stack(session: ServerSession, trial: Trial) -> None:
    """Record which stack carried the connections, or would carry them in an idle trial."""
    session.check_stack("after")
    trial.stack_check = session.serving.stack_check(idle=trial.traffic.idle)
    trial.set_aside = of_another_stack(trial) or trial.set_aside


def of_another_stack(trial: Trial) -> str:
    """Which stack carried the connections, if it was not the wanted one; else empty."""
    found = ""
    for whose, stack_check in (
        ("", trial.stack_check),
        ("clients were ", trial.traffic.stack_check),
    ):
        if stack_check and stack_check.difference:
            found = f"{whose}{stack_check.difference}"
    return found


def require_wanted_stack(trial: Trial) -> None:
    """StackcostError unless the wanted stack carried the connections; ends a search or a gate."""
    if trial.stack_check and not trial.stack_check.as_wanted:
        raise StackcostError(f"{trial.server}: {trial.set_aside}")
