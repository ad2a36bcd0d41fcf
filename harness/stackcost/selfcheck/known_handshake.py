"""Known cost of a TLS handshake: a busy loop in each, and what the suite finds that it was.

The cost is the difference to the trial just before, whose busy loops are half as long. With none
the core would sleep between handshakes, and these would cost more: it and its caches were not warm.
"""

from collections import defaultdict

from stackcost.campaign.turn import PlannedTrials
from stackcost.contracts.http import P256
from stackcost.contracts.tls import TlsSettings
from stackcost.loads.constant import prepare_load
from stackcost.selfcheck.calibration_server import CalibrationServer
from stackcost.selfcheck.known_cost import UNIT, Values, burn_of, made_with
from stackcost.selfcheck.row import Row, row
from stackcost.session.profile_session import ProfileSession

BURN_US, RATE = 1_000.0, 200.0  # a core has time for both sides of the handshakes
TLS = TlsSettings(certificate=P256)


def known_handshake_steps(
    session: ProfileSession, server: CalibrationServer, rounds: int
) -> PlannedTrials[list[Row]]:
    """Rows of a burn in each handshake, from `rounds` rounds."""
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
