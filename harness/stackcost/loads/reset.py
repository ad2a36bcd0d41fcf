"""Ends what a trial left on the server, so that the next one starts as it did."""

from stackcost.host.timeouts import scaled_timeout
from stackcost.host.waiting import wait_until
from stackcost.session.profile_session import POLL_S, ProfileSession

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
