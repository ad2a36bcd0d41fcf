"""Installs stackcost on another host by SSH, and lets its doctor look at the host."""

import asyncio
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from zipfile import is_zipfile

import asyncssh

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.hosts import SshHost
from stackcost.host.timeouts import scaled_timeout
from stackcost.hosts.ssh import connect

LIMIT_S = 900.0  # pip may have to fetch all packages
LINES = 5  # at the end of what a failed command printed
# Arguments: the folder of the virtual environment, the name of the wheel; the wheel is the input.
# The first install brings the packages that it needs, and the second one replaces the same version.
INSTALL = """
set -e
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cat >"$folder/$2"
[ -x "$1/bin/python" ] || python3 -m venv "$1"
install="$1/bin/python -m pip --disable-pip-version-check install --quiet"
$install "$folder/$2"
$install --force-reinstall --no-deps "$folder/$2"
"""


def prepare(name: str, host: SshHost, wheel: Path, say: Callable[[str], None]) -> bool:
    """Install the wheel where `python` of the host is; returns whether its doctor found all.

    `say`: shows what is done, and what the doctor there prints. StackcostError if the host cannot
    be reached, or the install fails.
    """
    if wheel.suffix != ".whl" or not is_zipfile(wheel):
        raise StackcostError(
            f"{wheel} is no wheel", "name the file that was installed here; script/package makes it"
        )
    say(f"{name}: installing {wheel.name} for {host.python}")
    prefix = str(Path(host.python).parent.parent)
    install = ["sh", "-c", INSTALL, "sh", prefix, wheel.name]
    done = asyncio.run(_run(name, host, install, wheel.read_bytes()))
    if done.returncode:
        said = " ".join(_text(done.stderr).splitlines()[-LINES:])
        raise StackcostError(
            f"host {name}: the install failed with status {done.returncode}: {said}",
            f"user {host.user} needs the right to write {prefix}, and pip there a package index",
        )
    doctor = [str(Path(host.python).with_name("stackcost")), "doctor"]
    done = asyncio.run(_run(name, host, doctor))
    say(f"{name}: {_text(done.stdout)}{_text(done.stderr)}")
    return done.returncode == 0


async def _run(
    name: str, host: SshHost, command: Sequence[str], given: bytes = b""
) -> "asyncssh.SSHCompletedProcess":
    limit = scaled_timeout(LIMIT_S)
    connection = await connect(name, host)
    try:
        return await connection.run(shlex.join(command), input=given, encoding=None, timeout=limit)
    except asyncssh.TimeoutError as error:
        raise StackcostError(f"host {name}: {command[0]} did not end in {limit:g} s") from error
    except (asyncssh.Error, OSError) as error:
        raise StackcostError(f"host {name}: the SSH connection was lost: {error}") from error
    finally:
        connection.close()


def _text(printed: bytes | str | None) -> str:
    return printed.decode(errors="replace") if isinstance(printed, bytes) else printed or ""
