"""Brings the suite itself into a guest, as it is here, over SSH.

The engine of a checkout is built for the processor of this machine, and an emulated one has fewer
instructions. So a guest gets the engine that a package would have, if that is built.
"""

import subprocess
import tarfile
from importlib import metadata

from stackcost.contracts.errors import StackcostError
from stackcost.files import ENGINE, NAMES, PACKAGE, PACKED, SUITE
from stackcost.guest.image import SITE

COPY_LIMIT_S = 900.0
PORTABLE = SUITE / "build/package/astf-engine"
NOT_PORTABLE = (
    "the engine in it may not run, because it is built for this machine's processor; before a load "
    "or a peer runs in an emulated guest: .venv/bin/python setup.py build_engine --portable, then "
    "start the guest again"
)


def engine_warning() -> str:
    """Why the engine may not run in an emulated guest; empty if it does."""
    return "" if PACKED.is_dir() or PORTABLE.exists() else NOT_PORTABLE


def copy_suite(ssh: list[str]) -> None:
    """Copy the package, the suite's files and the engine, in the places that a wheel has.

    `ssh`: the command that runs another in the guest. StackcostError when it does not take it.
    """
    command = [*ssh, f"tar --extract --no-same-owner --directory {SITE}"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as extracting:
        assert extracting.stdin is not None
        try:
            with tarfile.open(fileobj=extracting.stdin, mode="w|") as archive:
                archive.add(PACKAGE, "stackcost", filter=_wanted)
                if not PACKED.is_dir():
                    for name in NAMES:
                        archive.add(SUITE / name, f"stackcost/suite/{name}", filter=_wanted)
                    engine = PORTABLE if PORTABLE.exists() else ENGINE
                    archive.add(
                        engine, f"stackcost/suite/{ENGINE.relative_to(SUITE)}", filter=_wanted
                    )
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
