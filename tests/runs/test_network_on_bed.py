"""A network with loss and delay before nginx and before a peer, imitated by real generators."""

from pathlib import Path

import pytest

from engine.bench.tools.selfcheck.bed import selfcheck_experiment
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.checks import checks
from stackcost.contracts.load import ConstantLoad
from stackcost.experiment.schema import Experiment
from tests.runs.test_tls_on_bed import RATE, median_us, offered, opened

pytestmark = pytest.mark.bed
# A handshake has four tries within keep_init, 5 s: with 5 % of loss one of 219 flows would fail in
# one of 50 runs, with 2 % in one of 2,000.
DELAY_MS, LOSS = 4, 0.02


@pytest.mark.parametrize(
    "server", ["nginx/kernel", pytest.param("astf-peer", marks=pytest.mark.long)]
)
def test_every_response_comes_through_and_the_network_does_as_asked(
    tmp_path: Path, server: str
) -> None:
    data = selfcheck_experiment().model_dump(mode="json", exclude_unset=True)
    network = {"loss": LOSS, "delay_ms": DELAY_MS}
    experiment = Experiment.model_validate(
        data | {"network": network, "generators": [{"share": 1}, {"share": 1}]}
    )
    with opened(server, experiment, tmp_path) as session:
        trial = offered(session)
        told = trial.traffic.network
        assert told and told.asked == experiment.network
        assert told.frames > 1000 and told.lost > 0 and told.no_room == 0
        seen = Readings(trial, experiment.cores.server)
        assert trial.traffic.retransmitted and trial.traffic.completed and not trial.traffic.failed
        found = {check.name: check.holds for check in checks(seen)}
        assert trial.traffic.received_bytes == trial.traffic.completed * session.response_bytes
        assert found["frames that the network lost = share asked for x frames"]
        # The handshake takes a way there and back, the response one more at least.
        load = trial.load_of(ConstantLoad)
        assert median_us(load, "connect") > 2 * DELAY_MS * 1000
        assert median_us(load, "completion") > 4 * DELAY_MS * 1000
        before = session.generator.network_counts()["frames"]
        session.generator.set_network({})
        session.generator.start(mult=RATE, duration=0.3)
        assert session.end_traffic(10.0) == 0
        assert session.generator.network_counts()["frames"] == before, "it is gone"
