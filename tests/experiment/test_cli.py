"""What the command line says to those who ask, and to those who err; needs no test bed."""

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from stackcost.cli import main

REPOSITORY = Path(__file__).resolve().parents[2]
OWN_SERVER = REPOSITORY / "examples/haproxy.py"
PROGRAM = Path(sys.executable).with_name("stackcost")


def stackcost(*arguments: str) -> str:
    program = "from stackcost.cli import main; main()"
    return subprocess.check_output([sys.executable, "-c", program, *arguments], text=True)


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """The exit code of a command line that ends at once, in this process."""

    def run(*arguments: str, cwd: Path = REPOSITORY) -> object:
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", ["stackcost", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code

    return run


def test_help_says_what_there_is() -> None:
    said = stackcost("--help")
    for command in ("run", "report", "doctor", "clean"):
        assert f"\n  {command} " in said


def test_help_and_completion_wait_for_no_large_package() -> None:
    large = {"pydantic", "ruamel", "numpy", "pandas", "pyroute2", "psutil"}
    program = f"import sys, stackcost.cli.entry; print(sorted({large} & sys.modules.keys()))"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"


def test_a_shell_completes_commands_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_STACKCOST_COMPLETE", "complete_bash")
    for words, found in (("stackcost rep", "report\n"), ("stackcost run --qu", "--quick\n")):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
        assert subprocess.check_output([PROGRAM], text=True) == found


def test_it_says_its_version() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert stackcost("--version") == f"stackcost {project['version']}\n"


@pytest.mark.parametrize(
    ("arguments", "cause", "hint"),
    [
        (
            ("run", "compar"),
            "there is no experiment file compar; did you mean compare",
            "or the name of one in ",
        ),
        (
            ("run", "site.py"),
            "site.py is Python, not an experiment file",
            "stackcost ceiling FILE.py",
        ),
        (
            ("ceiling", "ngnix/kernel"),
            "there is no server and no experiment file ngnix/kernel; did you mean nginx/kernel or ",
            "all servers: docs/experiment-file.md",
        ),
        (("ceiling", "no.py"), "there is no file ", "docs/adding-a-server.md, of a device docs/"),
        (("dut", "no.py"), "there is no file ", "docs/adding-a-dut.md"),
        (("dut", str(OWN_SERVER)), f"{OWN_SERVER} must contain exactly one device class; ", "dut."),
        (
            ("dut", "README.md"),
            "README.md is no Python file, and a device is one",
            "of a ruleset of your own: docs/stressing-a-firewall.md",
        ),
        (
            ("dut", "nftables", "--ip-version", "5"),
            "--ip-version: Input should be 4 or 6",
            "stackcost dut --help",
        ),
        (
            ("ceiling", "debian-packages.txt"),
            "debian-packages.txt line 1: an experiment must be a mapping of keys to values",
            "a device is a Python file",
        ),
        (
            ("dut", "nftable", "--quick"),
            "there is no device 'nftable'; did you mean nftables",
            "all: docs/adding-a-dut.md",
        ),
        (
            ("ceiling", "nginx/kernel", "--results", "README.md/results", "--wait"),
            "cannot make a folder in README.md/results: ",
            "choose another folder: --results FOLDER",
        ),
    ],
)
def test_an_error_is_one_message_with_its_hint(
    arguments: tuple[str, ...],
    cause: str,
    hint: str,
    ended: Callable[..., object],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ended(*arguments) == 1
    said = capsys.readouterr()
    first, second = said.err.splitlines()
    assert said.out == ""
    assert first.startswith(f"stackcost: {cause}") and hint in second


def test_a_page_is_named_by_its_whole_path_where_there_is_none_below(
    ended: Callable[..., object], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ended("dut", "no.py", cwd=tmp_path)
    assert f"hint: an example: {REPOSITORY}/docs/adding-a-dut.md" in capsys.readouterr().err


def test_a_wrong_command_line_is_distinguished_by_its_exit_code(
    ended: Callable[..., object],
) -> None:
    assert ended("run") == ended("flight") == 2


def test_ctrl_c_while_it_imports_leaves_no_traceback() -> None:
    program = """
import sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "stackcost.cli.application":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
from stackcost.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
