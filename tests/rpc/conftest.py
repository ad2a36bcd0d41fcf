from collections.abc import Iterator

import pytest

from harness.errors import StackcostError
from harness.load.generator import Generator, engine_path
from tests.load.conftest import wire_config


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generator]:
    """astf-engine on its in-memory wire."""
    try:
        engine_path()
    except StackcostError as error:
        pytest.skip(str(error))
    with Generator(wire_config(), tmp_path_factory.mktemp("engine")) as generator:
        yield generator
