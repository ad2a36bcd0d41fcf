"""What is read around every load, whatever is offered meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager

from stackcost.contracts.load import HttpClients, ProfileTraffic
from stackcost.contracts.trial import Trial
from stackcost.host.timeouts import scaled_timeout
from stackcost.host.waiting import wait_until
from stackcost.session.path import count_frames, frames_since
from stackcost.session.profile_session import POLL_S, ProfileSession
from stackcost.session.server_session import ServerSession

RESET_TIMEOUT_S = 3.0


def reset_server(session: ProfileSession) -> None:
    """End the connections that a trial left on the kernel's stack, so that trials start equally.

    The generator forgets the flows that it aborts, but nginx would keep its side of them as long
    as idle connections, and run out of files after some trials.
    """
    session.serving.reset()

    def ended() -> bool:
        if not session.serving.open_connections():
            return True
        session.serving.end_connections(session.experiment.workload.port)
        return False

    wait_until(ended, scaled_timeout(RESET_TIMEOUT_S), POLL_S)


@contextmanager
def reading_server(
    session: ServerSession, trial: Trial, load: ProfileTraffic | HttpClients
) -> Iterator[None]:
    """Begin a trial, and fill in what the server turned away in the whole of it, by reason.

    The server is asked after the load: one that is out of files answers only when flows have
    closed. However the trial ends, it has the samples that were read.
    """
    before = session.serving.refusals()
    session.begin_trial()
    try:
        yield
        if load.limits:
            now = session.serving.refusals()
            if now is not None and before is not None:
                load.limits.refused = {why: n - before.get(why, 0) for why, n in now.items()}
    finally:
        trial.samples = session.trial_samples()


@contextmanager
def reading(session: ProfileSession, trial: Trial, load: ProfileTraffic) -> Iterator[None]:
    """Read a trial's samples, and what the generators count of the whole of it.

    The load is offered inside, and its flows have ended at the end.
    """
    frames = count_frames(session)
    with reading_server(session, trial, load):
        yield
        session.read_generator(load)
        load.frames = frames_since(session, frames)
