"""Runs the whole self-check on this machine."""

import tempfile
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console

from stackcost.collect.cpu_account import Detail
from stackcost.contracts.http import P256
from stackcost.contracts.tls import TlsSettings
from stackcost.runs.loads.constant import prepare_load
from stackcost.runs.record import new_campaign
from stackcost.runs.turn import PlannedTrials, Result, Turn
from stackcost.session.profile_session import ProfileSession, open_profile_session

from .bed import KnownSockets, selfcheck_experiment
from .calibration_server import CalibrationServer
from .known_cost import UNIT, Values, burn_of, known_cost_steps, made_with
from .known_memory import known_memory_steps
from .live_cost import live_steps
from .row import Row, row

BURN_US, RATE = 1_000.0, 200.0  # a core has time for both sides of the handshakes
TLS = TlsSettings(certificate=P256)


def known_handshake_steps(
    session: ProfileSession, server: CalibrationServer, rounds: int
) -> PlannedTrials[list[Row]]:
    """Rows of a burn in each handshake, from `rounds` rounds.

    The cost is the difference to the trial just before, whose busy loops are half as long. With
    none the core would sleep between handshakes, and these would cost more: it and its caches were
    not warm.
    """
    found: dict[str, Values] = defaultdict(Values)
    plain = session.experiment
    less, more = (burn_of(times * BURN_US, "each TLS handshake") for times in (1, 2))
    over_tls = plain.offering([RATE])
    load = over_tls.load.model_copy(update={"tls": TLS})
    session.experiment = over_tls.model_copy(update={"load": load})
    try:
        prepare_load(session)
        for _ in range(rounds):
            base = yield from made_with(session, server, less)
            made = yield from made_with(session, server, more)
            for answer in less.answers:
                found[answer.name].take(answer, made, (base,))
    finally:
        session.experiment = plain
        server.set_burn(0)
    return [row(name, UNIT, each.known, each.seen, each.errors) for name, each in found.items()]


def check_known(rounds: int = 1, quick: bool = False) -> list[Row]:
    """Known cost, also of TLS, and known memory, by one server in one session; `quick`: a burn
    alone, and no second observer.

    User and system time are separated at system calls: with ticks, as in a run, the share in a
    short trial is too inexact (docs/metrics.md). The trials are those of a normal run, which is
    deleted.
    KeyboardInterrupt if the user ended it.
    """

    def steps(session: ProfileSession) -> PlannedTrials[list[Row]]:
        server = session.local_server.server
        assert isinstance(server, CalibrationServer)
        costs = yield from known_cost_steps(session, server, rounds, quick)
        if not quick:
            costs += yield from known_handshake_steps(session, server, rounds)
        return costs + (yield from known_memory_steps(session, server, rounds, quick))

    return _rows(steps, 1 if quick else 2, Detail.SYSTEM_CALLS)


def check_live(rounds: int, sustain_s: float = 4) -> tuple[Row, list[Row]]:
    """What the live page takes, and figures with and without it: `live_steps`, in one session."""
    steps = partial(live_steps, rounds=rounds)
    return _rows(steps, sustain_s, Detail.SOFTIRQS)


def _rows(
    steps: Callable[[ProfileSession], PlannedTrials[Result]], sustain_s: float, detail: Detail
) -> Result:
    """The result of these steps on the server of known cost, in a run that is deleted."""
    experiment = selfcheck_experiment(sustain_s=sustain_s)
    turn = Turn(
        system=CalibrationServer.name,
        kind=KnownSockets,
        experiment=experiment,
        where="selfcheck",
        logs="selfcheck",
        steps=steps,
        open=partial(open_profile_session, detail=detail),
    )
    plan = experiment.model_dump(mode="json")
    with (
        tempfile.TemporaryDirectory(prefix="stackcost-") as folder,
        new_campaign(
            Path(folder), "selfcheck", [], Console(quiet=True), experiment=plan
        ) as campaign,
    ):
        rows = campaign.take(turn)
    if campaign.manifest.state == "interrupted":
        raise KeyboardInterrupt
    return rows
