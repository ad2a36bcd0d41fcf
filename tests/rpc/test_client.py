"""The unmodified client of TRex drives the engine on its in-memory wire."""

import pytest

from stackcost.trex.astf_server import AstfServer
from tests.rpc.scenarios import Scenarios

SCENARIOS = "client_scenarios"


@pytest.mark.parametrize(
    "scenario",
    [
        "whole_run",
        "latency_streams",
        "ipv6",
        "stop_and_start_again",
        "large_upload",
        "several_profiles",
        "two_clients",
        "errors_at_start",
        "limits_of_runs",
        "flow_information",
        "ports_and_server",
        "what_is_refused",
    ],
)
def test_scenario(scenarios: Scenarios, engine: AstfServer, scenario: str) -> None:
    scenarios.drive(engine, scenario)
