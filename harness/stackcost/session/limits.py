"""What a server turned away in a trial."""

from collections.abc import Mapping

from stackcost.session.server_session import ServerSession


def refused_since(
    session: ServerSession, before: Mapping[str, int] | None
) -> dict[str, int] | None:
    """What the server itself turned away since `before`, by reason; None when it did not answer.

    To be asked after the load: a server that is out of files answers only when flows have closed.
    """
    now = session.serving.refusals()
    if now is None or before is None:
        return None
    return {why: number - before.get(why, 0) for why, number in now.items()}
