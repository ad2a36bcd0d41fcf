"""How a run keeps its trials: each is stored whatever ended it, and made again when disturbed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.experiment.session import Session
from harness.model import Trial
from harness.store import RunFolder


@contextmanager
def storing(run: RunFolder, session: Session, trial: Trial) -> Iterator[None]:
    """Store a trial as soon as it is over; one that is cut short too, with a flag that says so.

    StackcostError naming the part that ended, when a part of the session did.
    """
    try:
        yield
        session.check_parts()
    except BaseException as error:
        trial.flags.append("cut short")
        trial.set_aside = "cut short"
        if isinstance(error, Exception):
            session.check_parts()  # a part that ended is the cause, and the error its effect
        raise
    finally:
        if trial.samples:
            run.add_trial(trial)


def until_undisturbed(
    measure: Callable[[int], Trial], disturbed: Callable[[Trial], object], repeats: int
) -> list[Trial]:
    """A trial and its repeats in order, `repeats` at most; `measure` gets 0, or which repeat."""
    attempts: list[Trial] = []
    for repeat in range(repeats + 1):
        attempts.append(measure(repeat))
        if not disturbed(attempts[-1]):
            break
    return attempts
