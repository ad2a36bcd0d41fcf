"""Each C source that the package compiles on the user's machine is there and compiles."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.bench.tools.selfcheck import calibration_server
from stackcost.collect import core_speed
from stackcost.contracts.errors import StackcostError
from stackcost.host.compiler import compile_program


@pytest.mark.parametrize(
    ("source", "libraries"),
    [(core_speed.SOURCE, ()), (calibration_server.SOURCE, calibration_server.LIBRARIES)],
)
def test_a_source_of_the_package_compiles(
    source: Path, libraries: Sequence[str], tmp_path: Path
) -> None:
    program = tmp_path / source.stem
    compile_program(source, program, libraries)
    assert program.stat().st_mode & 0o111


def test_a_source_that_does_not_compile_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    source = tmp_path / "broken.c"
    source.write_text("int main(void) { return nothing_declared; }\n")
    with pytest.raises(StackcostError, match=r"broken\.c: .*nothing_declared"):
        compile_program(source, tmp_path / "broken")
    with pytest.raises(StackcostError, match=r"missing\.c"):
        compile_program(tmp_path / "missing.c", tmp_path / "missing")
