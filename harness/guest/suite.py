"""Brings the suite itself into a guest, as it is here, over SSH.

The engine of a checkout is built for the processor of this machine, and an emulated one has fewer
instructions. So a guest gets the engine that a package would have, if that is built.
"""

import subprocess
import tarfile
from importlib import metadata
from pathlib import Path

import stackcost
from stackcost.contracts.errors import StackcostError
from stackcost.files import ENGINE, IMPORTED_FROM
from stackcost.harness.guest.image import SITE

COPY_LIMIT_S = 900.0
NATIVE = IMPORTED_FROM / "build/engine/astf-engine"
PORTABLE = IMPORTED_FROM / "build/package/astf-engine"
NOT_PORTABLE = (
    "the engine in it may not run, because it is built for this machine's processor; before a load "
    "or a peer runs in an emulated guest: .venv/bin/python setup.py build_engine --portable, then "
    "start the guest again"
)


def doubt_of_engine() -> str:
    """Why the engine may not run in an emulated guest; empty if it does."""
    return NOT_PORTABLE if ENGINE.resolve() == NATIVE and not PORTABLE.exists() else ""


def copy_suite(ssh: list[str]) -> None:
    """Copy the package with its engine. `ssh`: the command that runs another in the guest.

    In a checkout, folders and files that are links are copied as what they lead to. StackcostError
    when the guest does not take it.
    """
    command = [*ssh, f"tar --extract --no-same-owner --directory {SITE}"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as extracting:
        assert extracting.stdin is not None
        try:
            with tarfile.open(fileobj=extracting.stdin, mode="w|", dereference=True) as archive:
                archive.add(Path(stackcost.__file__).parent, "stackcost", filter=_wanted)
                if PORTABLE.exists():
                    archive.add(PORTABLE, "stackcost/files/astf-engine", filter=_wanted)
                for file in metadata.files("stackcost") or []:
                    if file.parent.suffix == ".dist-info":
                        archive.add(str(file.locate()), str(file))
            said, _ = extracting.communicate(timeout=COPY_LIMIT_S)
        except BrokenPipeError:
            said = extracting.stdout.read() if extracting.stdout else b""
        except subprocess.TimeoutExpired:
            extracting.kill()
            raise StackcostError(
                f"copying the suite into the guest did not end in {COPY_LIMIT_S:g} s"
            ) from None
    if extracting.returncode:
        raise StackcostError(
            f"the suite was not copied into the guest: {said.decode(errors='replace').strip()}"
        )


def _wanted(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    return entry
