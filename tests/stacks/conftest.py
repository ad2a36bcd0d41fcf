"""A machine with Onload, of stand-ins: what it was asked is recorded, what goes wrong is chosen."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackcost.bed import lock
from stackcost.contracts.placement import Placement
from stackcost.host import namespace
from stackcost.host import state as testbed_state
from stackcost.host.waiting import wait_until
from stackcost.stacks.onload import Installation, Onload, profile_of

STANDIN = Path(__file__).parent / "standin.py"
PLAYED = (
    "modprobe onload onload_stackdump onload_mibdump onload_tool orm_json ethtool ls cat tee dmesg"
)
# In no namespace; a shell starts in a tenth of the time of Python, and half of all calls are these.
IP = """#!/bin/sh
[ "$1" = netns ] && shift 3 && exec "$@"
case $4 in
  lo | sc-dummy | sc-bridge)
    echo "Error: Underlying driver does not support XDP in native mode." >&2
    exit 2
    ;;
esac
"""


class Machine:
    """The stand-ins' folder and a program on them."""

    def __init__(self, home: Path):
        self.home = home
        self.installation = Installation(home / "root")
        self.started: list[subprocess.Popen[bytes]] = []
        self.count()
        self.listen()
        self.kernel_counts(0)
        self.play("")

    def play(self, case: str) -> None:
        """From now on this goes wrong."""
        (self.home / "case").write_text(case)

    def count(self, *other_stacks: dict[str, int], **counters: int) -> None:
        """Let counters be so: those of the last stack, and of the `other_stacks` before it."""
        (self.home / "counters").write_text(json.dumps([*other_stacks, counters]))

    def listen(self, *listeners: tuple[int, int, int, int]) -> None:
        """Let Onload have these: port, connections that came, that were accepted, room for them."""
        (self.home / "listeners").write_text(json.dumps(listeners))

    def kernel_counts(self, number: int) -> None:
        """Let the kernel's TCP counters of the programs' namespace be so."""
        names = "Tcp: RtoMin ActiveOpens PassiveOpens InSegs"
        (self.home / "snmp").write_text(f"{names}\nTcp: 200 {number} {number} {number}\n")

    def calls(self, *names: str) -> list[list[str]]:
        """Every call of these programs, in order, each with its arguments."""
        text = (self.home / "calls").read_text() if (self.home / "calls").exists() else ""
        found = [json.loads(line) for line in text.splitlines()]
        return [call for call in found if call[0] in names]

    def onload(
        self, profile: str = "balanced", link: str = "sc-server0", **place: object
    ) -> Onload:
        """Onload at a place on this machine, not prepared."""
        where = {"folder": self.home / "server", "listens": ("48.0.0.1", 80), "workers": 2} | place
        made = Placement("stackcost-server", link, (0,), **where)  # type: ignore[arg-type]
        return Onload(made, profile_of(profile), self.installation)

    def start(self, stack: Onload) -> dict[str, int]:
        """A program on the stack: its process by role, once it runs or has ended."""
        stack.placement.folder.mkdir(exist_ok=True)
        with (stack.placement.folder / "error.log").open("wb") as log:
            process = stack.run(["sleep", "60"], stdout=log, stderr=log)
        self.started.append(process)
        name = Path(f"/proc/{process.pid}/comm")
        wait_until(lambda: process.poll() is not None or name.read_text().strip() == "sleep", 30)
        return {"worker-0": process.pid}

    def end(self) -> None:
        """End all programs that were started."""
        while self.started:
            namespace.end_group(self.started.pop())


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    programs, root, state = tmp_path / "bin", tmp_path / "root", tmp_path / "state"
    for folder in (programs, root / "proc", state):
        folder.mkdir(parents=True)
    (root / "proc/modules").touch()
    (root / "proc/net").mkdir()
    (root / "proc/net/protocols").write_text("protocol  size\nXDP       1088\nTCP       2304\n")
    (tmp_path / "dmesg").touch()
    for name in PLAYED.split():
        shutil.copy(STANDIN, programs / name)
        (programs / name).chmod(0o755)
    (programs / "ip").write_text(IP)
    (programs / "ip").chmod(0o755)
    monkeypatch.setenv("STANDIN", str(tmp_path))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin:/usr/sbin:/sbin")
    for module in (testbed_state, lock):  # what undo_all works on
        monkeypatch.setattr(module, "state_folder", lambda: state)
    made = Machine(tmp_path)
    yield made
    made.end()
