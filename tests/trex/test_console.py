"""TRex's own console from the PyPI package, started by script/trex-console."""

import subprocess
from pathlib import Path

from stackcost.trex.astf_server import AstfServer
from tests.trex.conftest import REPOSITORY


def console(*arguments: str) -> str:
    done = subprocess.run(
        [REPOSITORY / "script" / "trex-console", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def test_batch_starts_shows_and_stops(engine: AstfServer, tmp_path: Path, profile: Path) -> None:
    server = ["-s", "127.0.0.1", "-p", str(engine.config.rpc_port)]
    ports = ["--async_port", str(engine.config.async_port)]
    printed = []
    # In two runs, since the client passes over a stop before it has seen the start's event.
    for commands in (f"start -f {profile} -m 20", "stats\nstop"):
        batch = tmp_path / "batch"
        batch.write_text(commands)
        printed.append(console(*server, *ports, "--batch", str(batch)))
        assert "[Done]" in printed[-1]
        assert "FAILED" not in printed[-1]
    assert "Starting traffic." in printed[0]
    for words in ("Global Statistics", "TRANSMITTING", "Stopping traffic."):
        assert words in printed[1]
