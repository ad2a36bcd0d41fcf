"""TRex in place of astf-engine: TREX_HOME alone decides, nothing else changes."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import Port
from stackcost.trex import client as client_module
from stackcost.trex.astf_server import AstfServer, engine_path
from stackcost.trex.trex_config import TrexConfig
from tests.trex.conftest import PROFILES, alive, client_of, free_ports, wire_config


def recorded(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "record.json").read_text()))


def test_trex_is_started_as_its_manual_says(trex_folder: Path, tmp_path: Path) -> None:
    ports = [Port("sc-load0", "198.18.0.1", "198.18.0.2"), Port("dummy")]
    config = TrexConfig("load", ports, (0, 1, 2), *free_ports())
    with AstfServer(config, tmp_path) as generator:
        assert generator.describe()["program"] == "t-rex-64"
        child = int((trex_folder / "child").read_text())
        assert alive(child)
        assert child in generator.process_ids.values(), "its figures are of the real program"
    assert not alive(child)
    assert not alive(generator.process_id)

    record = recorded(trex_folder)
    assert record["cwd"] == str(trex_folder)
    file = str(tmp_path / "load.yaml")
    assert record["argv"] == [*["-i", "--astf", "--cfg", file, "-c", "1", "--iom", "0", "--no-key"]]
    (section,) = YAML(typ="safe").load(record["configuration"])
    assert section["interfaces"] == ["sc-load0", "dummy"]
    assert section["port_info"][0] == {"ip": "198.18.0.1", "default_gw": "198.18.0.2"}
    assert (section["zmq_rpc_port"], section["zmq_pub_port"]) == (
        config.rpc_port,
        config.async_port,
    )
    assert section["platform"] == {
        "master_thread_id": 0,
        "latency_thread_id": 1,
        "dual_if": [{"socket": 0, "threads": [2]}],
    }


@pytest.mark.parametrize("trex", [True, False])
def test_both_programs_are_told_to_cut_segments_themselves(
    trex: bool, trex_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not trex:
        monkeypatch.delenv("TREX_HOME")
    wire = [Port("wire")] * 2
    for offload in (True, False):
        config = TrexConfig("load", wire, (0,), segmentation_offload=offload)
        told = "--tso-disable" in AstfServer(config, tmp_path).argv
        assert told != offload


def test_the_same_calls_drive_it(
    trex_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        monkeypatch.setenv("RECORDING_TREX_ENGINE", str(engine_path()))
    except StackcostError as error:
        pytest.skip(str(error))
    with AstfServer(wire_config(), tmp_path) as generator, client_of(generator.config) as trex:
        trex.connect()
        trex.reset()
        trex.load_profile(PROFILES / "http_program.py", {"response_bytes": 1000})
        trex.start(mult=100, duration=1)
        trex.wait_on_traffic(timeout=10)
        counters = trex.stats()["traffic"]["client"]
        trex.disconnect()
    assert recorded(trex_folder)["argv"][0] == "-i"
    assert counters["tcps_connects"] > 0
    assert counters["tcps_connects"] == counters["tcps_closed"]
    assert counters["tcps_rcvbyte"] == 1000 * counters["tcps_connects"]


def test_one_that_crashes_while_the_client_waits_is_the_cause(
    trex_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "ANSWER_LIMIT", 0.1)
    config = wire_config()
    with AstfServer(config, tmp_path) as generator, client_of(config) as trex:
        with pytest.raises(ValueError, match="another"), generator.blamed():
            raise ValueError("another cause")
        os.kill(int((trex_folder / "child").read_text()), signal.SIGSEGV)
        crashed = pytest.raises(
            StackcostError, match="ended with exit status 139: it printed nothing"
        )
        with crashed, generator.blamed():
            trex.connect()
