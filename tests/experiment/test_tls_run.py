"""The shipped experiment of loads over TLS, as a user starts it."""

from pathlib import Path

import pytest

from stackcost.contracts.load import ConstantLoad
from tests.experiment.command import run_folder, start


@pytest.mark.long
@pytest.mark.bed
def test_both_servers_are_measured_over_tls_and_the_handshake_has_its_time(tmp_path: Path) -> None:
    arguments = ["run", "experiments/tls_astf.yaml", "--quick", "--results", str(tmp_path)]
    process = start(arguments)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    folder = run_folder(tmp_path)
    systems = {each.name: each.settings["tls"] for each in folder.manifest().systems}
    for trial in folder.trials():
        if trial.load.counter("tcps_connects") == 0:
            continue  # memory with no flow
        tls, varied = trial.load.tls, systems[trial.server]
        assert (tls is None) == (varied == "plain")
        if tls:
            assert tls.asked.version == "1.3" and tls.asked.certificate == "p-256"
            assert tls.handshakes == trial.load.counter("tcps_connects") and tls.failed == 0
            assert (tls.handshakes_resumed > 0) == (varied == "tls-resumed")
        if isinstance(trial.load, ConstantLoad):
            assert trial.load.received_bytes == trial.load.completed * 1000
            assert trial.load.server_requests == trial.load.completed
    servers = {server["name"]: server["levels"][0] for server in folder.summary()["servers"]}
    assert len(servers) == 6
    for level in [level for name, level in servers.items() if systems[name] != "plain"]:
        times = level["latency"][""]
        medians = [times[kind]["p50"]["median"] for kind in ("connect", "tls_handshake")]
        assert 0 < medians[0] < medians[1], times
