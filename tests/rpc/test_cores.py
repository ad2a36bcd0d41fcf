"""The unmodified client of TRex drives several data cores of one port pair, and two pairs."""

import os
from collections.abc import Iterator
from itertools import cycle, islice

import pytest

from stackcost.contracts.wiring import Port
from stackcost.trex.astf_server import AstfServer
from stackcost.trex.trex_config import TrexConfig
from tests.rpc.scenarios import Scenarios
from tests.trex.conftest import free_ports

SCENARIOS = "core_scenarios"


@pytest.fixture(scope="module", params=[(1, 2), (2, 1)], ids=["two cores", "two pairs"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AstfServer]:
    """astf-engine with pairs of ports on the in-memory wire, and so many data cores for each."""
    pairs, cores = request.param
    cpus = list(islice(cycle(sorted(os.sched_getaffinity(0))), 1 + pairs * cores))
    config = TrexConfig("test-cores", [Port("wire")] * (2 * pairs), cpus, *free_ports())
    assert config.data_cores == cores
    with AstfServer(config, tmp_path_factory.mktemp("engine")) as generator:
        yield generator


@pytest.mark.parametrize("scenario", ["counters", "addresses", "latency"])
def test_scenario(scenarios: Scenarios, server: AstfServer, scenario: str) -> None:
    pairs = len(server.config.ports) // 2
    scenarios.drive(server, scenario, pairs, server.config.data_cores)
