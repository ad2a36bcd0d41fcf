import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import Port
from stackcost.trex.astf_server import AstfServer, engine_path
from stackcost.trex.client import TrexClient
from stackcost.trex.trex_config import TrexConfig

REPOSITORY = Path(__file__).resolve().parents[2]
PROFILES = REPOSITORY / "trex_profiles"


def free_ports() -> tuple[int, int]:
    """Two TCP ports of loopback that nothing listens on, so that tests do not meet."""
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


def wire_config(cpus: tuple[int, ...] = (0,)) -> TrexConfig:
    """Both ports of one process joined in memory."""
    rpc_port, async_port = free_ports()
    wire = Port("wire")
    return TrexConfig(f"test-{os.getpid()}", [wire, wire], cpus, rpc_port, async_port)


def client_of(config: TrexConfig, **options: Any) -> TrexClient:
    return TrexClient(rpc_port=config.rpc_port, async_port=config.async_port, **options)


@pytest.fixture(scope="session")
def client() -> Iterator[TrexClient]:
    """A client without a server: enough for reading profiles."""
    with TrexClient() as client:
        yield client


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AstfServer]:
    """astf-engine on its in-memory wire."""
    try:
        engine_path()
    except StackcostError as error:
        pytest.skip(str(error))
    with AstfServer(wire_config(), tmp_path_factory.mktemp("engine")) as generator:
        yield generator


@pytest.fixture(scope="module")
def connection(engine: AstfServer) -> Iterator[TrexClient]:
    """TRex's client takes seconds to import: the tests of a module share one."""
    with client_of(engine.config) as client:
        client.connect()
        yield client


@pytest.fixture
def connected(connection: TrexClient) -> TrexClient:
    """The shared client, and a server without traffic or profile."""
    connection.reset()
    return connection


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """For TRex's console, to which a space in a path ends it, as that of a checkout may have."""
    (tmp_path / "profiles").symlink_to(PROFILES)
    return tmp_path / "profiles" / "http_program.py"


@pytest.fixture
def trex_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as TRex unpacks to, with a t-rex-64 that records how it is started."""
    folder = tmp_path / "trex"
    folder.mkdir()
    shutil.copy(Path(__file__).with_name("recording_trex.py"), folder / "t-rex-64")
    (folder / "t-rex-64").chmod(0o755)
    monkeypatch.setenv("TREX_HOME", str(folder))
    return folder


def alive(process_id: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def pythons() -> dict[str, str]:
    """Interpreters on this machine by version, from PATH and from pyenv."""
    candidates = [f"python3.{minor}" for minor in (11, 12, 13)]
    if shutil.which("pyenv"):
        for version in _output("pyenv", "versions", "--bare").split():
            candidates.append(f"{_output('pyenv', 'prefix', version).strip()}/bin/python")
    found: dict[str, str] = {}
    for candidate in candidates:
        version = _output(candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
        found.setdefault(version.strip(), candidate)
    return found


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout
    except FileNotFoundError:
        return ""
