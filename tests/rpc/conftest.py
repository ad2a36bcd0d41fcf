import subprocess
import sys
from collections.abc import Iterator

import pytest

from harness.errors import StackcostError
from harness.load.generator import Generator, engine_path
from tests.load.conftest import REPOSITORY, wire_config


def drive(engine: Generator, module: str, scenario: str, *arguments: int) -> None:
    """Run a scenario of tests.rpc's `module` in a process of its own against `engine`."""
    ports = [engine.config.rpc_port, engine.config.async_port]
    done = subprocess.run(
        [sys.executable, "-m", f"tests.rpc.{module}", scenario, *map(str, [*ports, *arguments])],
        cwd=REPOSITORY,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    engine.check()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generator]:
    """astf-engine on its in-memory wire."""
    try:
        engine_path()
    except StackcostError as error:
        pytest.skip(str(error))
    with Generator(wire_config(), tmp_path_factory.mktemp("engine")) as generator:
        yield generator
