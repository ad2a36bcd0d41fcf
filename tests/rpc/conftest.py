from collections.abc import Iterator

import pytest

from tests.rpc.scenarios import Scenarios
from tests.trex.conftest import engine as engine  # the fixture, for these tests too


@pytest.fixture(scope="module")
def scenarios(request: pytest.FixtureRequest) -> Iterator[Scenarios]:
    """Those of the module that the test module names as SCENARIOS."""
    with Scenarios(request.module.SCENARIOS) as process:
        yield process
