from collections.abc import Iterator

import pytest

from stackcost.trex.client import TrexClient
from tests.rpc.scenarios import Scenarios
from tests.trex.conftest import connected as connected  # fixtures, for these tests too
from tests.trex.conftest import connection as connection
from tests.trex.conftest import engine as engine


@pytest.fixture
def client(connected: TrexClient) -> TrexClient:
    return connected


@pytest.fixture(scope="module")
def scenarios(request: pytest.FixtureRequest) -> Iterator[Scenarios]:
    """Those of the module that the test module names as SCENARIOS."""
    with Scenarios(request.module.SCENARIOS) as process:
        yield process
