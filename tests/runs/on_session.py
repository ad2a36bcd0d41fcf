"""Trials as a campaign makes them, on a session that is open already."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from stackcost.contracts.trial import Trial
from stackcost.runs.campaign import Campaign
from stackcost.runs.turn import PlannedTrials, Turn
from stackcost.session.server_session import ServerSession
from stackcost.store import Manifest, RunFolder


def follow(
    session: ServerSession, steps: Callable[[Any], PlannedTrials[Any]], results: Path
) -> tuple[Any, list[Trial]]:
    """What the steps came to, and all trials that were made for them."""
    folder = RunFolder.create(results, "test")
    turn = Turn(
        system="",
        kind=type(session.local_server.server),
        experiment=session.experiment,
        where="test",
        logs="test",
        steps=steps,
        open=lambda *_: nullcontext(session),
    )
    came_to = Campaign(folder, Manifest(run=folder.name), session.progress).take(turn)
    return came_to, folder.trials()
