"""The unmodified client of TRex uses the ports of the engine on its in-memory wire."""

import pytest

from stackcost.trex.astf_server import AstfServer
from tests.rpc.scenarios import Scenarios

SCENARIOS = "port_scenarios"


@pytest.mark.parametrize(
    "scenario",
    [
        "pushed_and_captured",
        "layer_3",
        "silent_gateway",
        "ipv6_neighbours",
        "traffic_looked_at",
        "service_mode",
        "clients_disabled",
        "vlan_by_profile",
        "gtpu",
    ],
)
def test_scenario(scenarios: Scenarios, engine: AstfServer, scenario: str) -> None:
    scenarios.drive(engine, scenario)
