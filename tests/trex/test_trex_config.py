"""The configuration file is TRex's, in both of its readers' terms."""

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import Port
from stackcost.trex.trex_config import TrexConfig

CLIENT_SIDE = [Port("sc-load0", "198.18.0.1", "198.18.0.2"), Port("dummy")]


def written(config: TrexConfig, folder: Path) -> dict[str, Any]:
    config.write(folder / "cfg.yaml")
    (section,) = YAML(typ="safe").load(folder / "cfg.yaml")
    return dict(section)


def test_file_for_one_core(tmp_path: Path) -> None:
    config = TrexConfig("load", CLIENT_SIDE, (0,), rpc_port=4601, async_port=4600)
    assert written(config, tmp_path) == {
        "version": 2,
        "port_limit": 2,
        "interfaces": ["sc-load0", "dummy"],
        "prefix": "stackcost-load",
        "enable_zmq_pub": True,
        "zmq_pub_port": 4600,
        "zmq_rpc_port": 4601,
        "c": 1,
        "port_info": [
            {"ip": "198.18.0.1", "default_gw": "198.18.0.2"},
            {"ip": "0.0.0.0", "default_gw": "0.0.0.0"},
        ],
        "platform": {
            "master_thread_id": 0,
            "latency_thread_id": 0,
            "dual_if": [{"socket": 0, "threads": [0]}],
        },
    }


def test_trex_on_one_core_uses_its_low_end_mode(tmp_path: Path) -> None:
    section = written(TrexConfig("load", CLIENT_SIDE, (3,), for_trex=True), tmp_path)
    assert (section["low_end"], section["low_end_core"]) == (True, 3)
    assert "platform" not in section


@pytest.mark.parametrize(
    ("for_trex", "cpus"), [(False, (0, 2, 3, 4, 5)), (True, (0, 1, 2, 3, 4, 5))]
)
def test_more_cores_are_data_cores(tmp_path: Path, for_trex: bool, cpus: tuple[int, ...]) -> None:
    """TRex starts a thread for control and one for latency, which share a CPU with no other."""
    config = TrexConfig("load", CLIENT_SIDE * 2, cpus, for_trex=for_trex)
    section = written(config, tmp_path)
    platform = section["platform"]
    assert section["c"] == config.data_cores == 2
    assert platform["master_thread_id"] == 0
    assert platform["latency_thread_id"] == (1 if for_trex else 0)
    assert [pair["threads"] for pair in platform["dual_if"]] == [[2, 3], [4, 5]]


def test_ports_without_addresses_have_no_port_info(tmp_path: Path) -> None:
    section = written(TrexConfig("wire", [Port("wire")] * 2, (0,)), tmp_path)
    assert "port_info" not in section


def test_odd_number_of_ports_is_refused() -> None:
    with pytest.raises(StackcostError, match="load has 1 ports, but TRex needs pairs"):
        TrexConfig("load", CLIENT_SIDE[:1], (0,))


def test_too_few_cores_for_the_pairs_are_refused() -> None:
    with pytest.raises(StackcostError, match=r"2 CPUs for 2 port pairs; give it 3 CPUs: one for"):
        TrexConfig("load", CLIENT_SIDE * 2, (0, 1))


def test_trex_needs_a_core_for_latency_too() -> None:
    with pytest.raises(StackcostError, match=r"2 CPUs for 1 port pairs; give it 3 CPUs: two for"):
        TrexConfig("load", CLIENT_SIDE, (0, 1), for_trex=True)


def test_limit_of_open_flows(tmp_path: Path) -> None:
    config = TrexConfig("wire", [Port("wire")] * 2, (0,), flows=20_000_000)
    section = written(config, tmp_path)
    assert section["memory"] == {"dp_flows": 20_000_000}
