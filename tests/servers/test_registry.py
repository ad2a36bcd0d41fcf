"""Servers by name and by the file of somebody's own; nothing is started."""

from collections.abc import Callable
from pathlib import Path

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import Server
from stackcost.duts.base import Dut
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import read_experiment
from stackcost.runs.identity import profile_hashes
from stackcost.servers.own_files import own_fault
from stackcost.servers.probe import fit_body
from stackcost.servers.registry import DEVICES, SHIPPED, server_class

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "haproxy.yaml"
WHOLE = """
from stackcost.servers.program import HttpProgram

class Mine(HttpProgram):
    def command(self):
        return ["mine"]

    def write_files(self):
        pass
"""


def test_every_server_of_the_suite_is_found_and_called_by_its_name() -> None:
    for name in SHIPPED:
        assert server_class(name).name == name
    on_kernel = {name for name in SHIPPED if server_class(name).kernel_stack}
    assert on_kernel == {name for name in SHIPPED if name.endswith("/kernel")}
    assert [name for name in SHIPPED if issubclass(server_class(name), Dut)] == list(DEVICES)


def test_a_file_is_found_and_called_by_its_own_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(WHOLE)
    found = server_class(str(path))
    assert issubclass(found, Server) and found.name == "mine" and found.kernel_stack


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import nothing_of_this_name\n", r"mine\.py line 1: ModuleNotFoundError"),
        ("\nclass Mine(:\n", r"mine\.py line 2: SyntaxError: invalid syntax$"),
        ("\nopen('/no/site.nft')\n", r"mine\.py line 2: FileNotFoundError: .*'/no/site\.nft'$"),
        ("x = 1\n", "exactly one server or device class; it contains none"),
        (WHOLE + "class Other(Mine):\n    pass\n", "it contains Mine, Other"),
        (WHOLE.replace("write_files", "write_none"), "Mine does not implement write_files"),
        ("from stackcost.duts.base import Dut\n", "it contains none"),
    ],
)
def test_what_is_wrong_in_a_file_is_reported(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(StackcostError, match=told):
        server_class(str(path))


def test_an_error_of_one_of_its_methods_is_its_own_wherever_it_is_called(tmp_path: Path) -> None:
    """A ruleset that was missing beside its device was 62 lines of traceback, from a test bed."""
    path = tmp_path / "mine.py"
    path.write_text(WHOLE + "    def ruleset(self):\n        return open('/no/site.nft').read()\n")
    found = server_class(str(path))
    with pytest.raises(FileNotFoundError) as caught:
        found.ruleset(None)
    told = str(own_fault(caught.value))
    line = len(path.read_text().splitlines())
    assert told.startswith(f"{path} line {line}, in ruleset: FileNotFoundError: ")
    assert told.endswith("'/no/site.nft'")
    with pytest.raises(FileNotFoundError) as of_the_suite:
        Path("/no/site.nft").read_text()
    assert own_fault(of_the_suite.value) is None


def test_an_experiment_names_a_file_relative_to_its_own() -> None:
    experiment = read_experiment(EXAMPLE)
    assert experiment.servers == ["nginx/kernel", str(EXAMPLE.with_name("haproxy.py"))]
    assert [each.name for each in variants(experiment)] == ["nginx/kernel", "haproxy"]
    assert str(EXAMPLE.with_name("haproxy.py")) in profile_hashes(experiment)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("haproxy.py]", "x/haproxy.py]", r"servers\.1: there is no file .*x/haproxy\.py"),
        ("haproxy.py]", "haproxy.py, ./haproxy.py]", "servers: the list contains a value twice"),
        ("haproxy.py]", "haproxy.py, x/haproxy.py]", "two servers have the same name"),
        (
            "haproxy.py]",
            "haproxy]",
            r"there is no server 'haproxy'; did you mean .*haproxy/kernel",
        ),
        (
            "against: haproxy",
            "against: mine",
            "'mine' is not a system of this experiment, which has: nginx/kernel",
        ),
    ],
)
def test_an_experiment_that_names_none_is_reported(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    text = EXAMPLE.read_text().replace("../", f"{EXAMPLE.parents[1]}/").replace(old, new)
    (tmp_path / "haproxy.py").write_text(EXAMPLE.with_name("haproxy.py").read_text())
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(StackcostError, match=told):
        read_experiment(tmp_path / "mine.yaml")


def serving(header: int, served: list[int]) -> Callable[[int], int]:
    """A server with a header of so many bytes and the digits of Content-Length."""

    def serve(body: int) -> int:
        served.append(body)
        return header + len(str(body)) + body

    return serve


@pytest.mark.parametrize("wanted", [39, 47, 49, 138, 2000, 32_000])
def test_a_body_is_found_for_a_whole_response(wanted: int) -> None:
    served: list[int] = []
    fit_body(wanted, serving(37, served))
    assert 37 + len(str(served[-1])) + served[-1] == wanted and len(served) <= 3


@pytest.mark.parametrize("wanted", [10, 48])
def test_a_length_that_no_response_has_is_refused(wanted: int) -> None:
    with pytest.raises(StackcostError, match=f"no response has a total length of {wanted} bytes"):
        fit_body(wanted, serving(37, []))


def test_a_server_that_ignores_the_length_of_its_body_is_told_so() -> None:
    with pytest.raises(StackcostError, match="answers 1500 bytes, whatever") as caught:
        fit_body(2000, lambda _body: 1500)
    assert "set workload.response_bytes to 1500" in caught.value.hint
