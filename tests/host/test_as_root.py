"""Commands in hints, as root can type them."""

import sys
from pathlib import Path
from shlex import quote

import pytest

from stackcost.host import as_root as module
from stackcost.host.as_root import as_root, same_as_root

PROGRAM = Path(sys.prefix, "bin/stackcost")
OWN, PYTHON = quote(str(PROGRAM)), quote(sys.executable)


def test_a_program_that_sudo_would_not_find_has_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert as_root("doctor") == f"sudo {OWN} doctor"
    other = tmp_path / "stackcost"
    other.touch(0o755)
    monkeypatch.setattr(module, "ROOTS", str(tmp_path))
    assert as_root("doctor") == f"sudo {OWN} doctor", "another one is there"
    other.unlink()
    other.symlink_to(PROGRAM)
    assert as_root("doctor") == "sudo stackcost doctor"


def test_the_same_command_is_repeated_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/some/where/stackcost", "run", "my file.yaml", "--quick"])
    assert same_as_root() == f"sudo {OWN} run 'my file.yaml' --quick"
    monkeypatch.setattr(sys, "argv", [sys.executable, "-q"])
    assert same_as_root() == f"sudo {PYTHON} -q"
    monkeypatch.setattr(sys, "argv", ["no/program.py", "-q"])
    monkeypatch.setattr(sys, "orig_argv", ["python", "no/program.py", "-q"])
    assert same_as_root() == f"sudo {PYTHON} no/program.py -q"
