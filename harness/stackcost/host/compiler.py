"""Makes programs of C sources: for this machine, and for BPF in its kernel."""

import functools
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.host.debian import FILES, install_command
from stackcost.host.namespace import find_program
from stackcost.host.timeouts import scaled_timeout

COMPILE_TIMEOUT_S = 60


def compile_program(source: Path, program: Path, libraries: Sequence[str] = ()) -> None:
    """Make a program of one C file and these libraries ("ssl"); StackcostError when the compiler
    refuses it. It is compiled once in a process, as `compile_bpf` does.
    """
    _compile(source, program, [f"-l{name}" for name in libraries])


def compile_library(source: Path, library: Path) -> None:
    """Make a library of one C file, that can be loaded before a program's own; errors as above."""
    _compile(source, library, ["-shared", "-fPIC"])


def _compile(source: Path, made_file: Path, flags: Sequence[str]) -> None:
    content = source.read_bytes() if source.is_file() else b""
    made_file.write_bytes(_program(source, content, tuple(flags)))
    made_file.chmod(0o755)


@functools.cache
def _program(source: Path, content: bytes, flags: tuple[str, ...]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="stackcost-") as folder:
        program = Path(folder) / "program"
        command = [find_program("cc"), "-O2", "-o", str(program), str(source), *flags]
        limit = scaled_timeout(COMPILE_TIMEOUT_S)
        made = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        if made.returncode != 0:
            raise StackcostError(f"cc cannot compile {source.name}: {_first_error(made.stderr)}")
        return program.read_bytes()


def compile_bpf(source: Path, defines: Sequence[str] = ()) -> bytes:
    """The object file of a .bpf.c file; StackcostError when clang is missing or refuses it.

    It is compiled once in a process, and again if the file has changed: every turn of a run needs
    the same one.
    """
    return _image(source, source.read_bytes(), tuple(defines))


@functools.cache
def _image(source: Path, content: bytes, defines: tuple[str, ...]) -> bytes:
    headers = f"/usr/include/{sysconfig.get_config_var('MULTIARCH')}"
    flags = ["-O2", "-g", "-target", "bpf", "-mcpu=v3", f"-I{headers}"]
    flags += [f"-D{name}" for name in defines]
    with tempfile.TemporaryDirectory(prefix="stackcost-") as folder:
        image = Path(folder) / "image.o"
        command = ["clang", *flags, "-c", str(source), "-o", str(image)]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except FileNotFoundError as error:
            raise StackcostError(
                "clang is not installed; it compiles the BPF programs", install_command(["clang"])
            ) from error
        except subprocess.CalledProcessError as error:
            raise StackcostError(
                f"clang cannot compile {source.name}: {_first_error(error.stderr)}",
                install_command(["clang", *FILES.values()]),
            ) from error
        return image.read_bytes()


def _first_error(said: str) -> str:
    """The first line of a compiler's output that names an error, or its first line."""
    lines = said.strip().splitlines() or ["it printed nothing"]
    return next((line for line in lines if "error" in line), lines[0])
