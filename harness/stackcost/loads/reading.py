"""What is read around every load of the generators, whatever they offer meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager

from stackcost.contracts.load import ProfileTraffic
from stackcost.contracts.trial import Trial
from stackcost.session.limits import refused_since
from stackcost.session.path import count_frames, frames_since
from stackcost.session.profile_session import ProfileSession


@contextmanager
def reading(session: ProfileSession, trial: Trial, load: ProfileTraffic) -> Iterator[None]:
    """Begin a trial, and fill in what the generators and the server count of the whole of it.

    The load is offered inside, and its flows have ended at the end. However it ends, the trial has
    the samples that were read.
    """
    refused, frames = session.serving.refusals(), count_frames(session)
    session.begin_trial()
    try:
        yield
        session.read_generator(load)
        load.frames = frames_since(session, frames)
        if load.limits:
            load.limits.refused = refused_since(session, refused)
    finally:
        trial.samples = session.trial_samples()
