"""Starts a guest: by KVM where that works, else by emulation."""

import os
import re
import socket
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from stackcost.bed.guest_image import PROGRAM_PACKAGES, SITE, files_of, make_image
from stackcost.bed.guest_machine import (
    EMULATION,
    KVM,
    MODELS,
    NAME,
    SHARED,
    Machine,
    command_line,
    port_name,
)
from stackcost.bed.guest_running import (
    ADDRESS,
    GUESTS,
    Guest,
    free_port,
    record,
    stop,
)
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import Port
from stackcost.files import ENGINE, NAMES, PACKAGE, PACKED, SUITE
from stackcost.host.debian import install_command
from stackcost.host.namespace import find_program
from stackcost.host.waiting import wait_until
from stackcost.trex.astf_server import AstfServer
from stackcost.trex.portable_engine import portable_engine
from stackcost.trex.trex_config import TrexConfig

COPY_LIMIT_S = 900.0


def copy_suite(ssh: list[str], engine: Path) -> None:
    """Copy the package, the suite's files and the engine, in the places that a wheel has.

    `ssh`: the command that runs another in the guest. `engine`: of a checkout. StackcostError when
    the guest does not take it.
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


@contextmanager
def first_engine(guest: Guest) -> Iterator[AstfServer | None]:
    """An engine on all shared NICs of a guest: QEMU waits for one. None if it has no such NIC.

    After it the links of these NICs are down until another engine connects.
    """
    ports = [
        Port(port_name(guest.name, at, guest.log.parent))
        for at, nic in enumerate(guest.machine.nics)
        if nic.model == SHARED
    ]
    if not ports:
        yield None
        return
    ports += [Port("dummy")] * (len(ports) % 2)
    cpu = min(os.sched_getaffinity(0))
    config = TrexConfig(f"first-of-{guest.name}", ports, [cpu], free_port(), free_port())
    with (
        tempfile.TemporaryDirectory() as folder,
        AstfServer(config, Path(folder), _with_least_priority) as engine,
    ):
        yield engine


def _with_least_priority(argv: list[str], **options: Any) -> "subprocess.Popen[Any]":
    """The command with the least priority: it polls without pause, while QEMU needs the cores."""
    return subprocess.Popen(["nice", "-n", "19", *argv], **options)


DEVICE = Path("/dev/kvm")
KVM_LIMIT_S = 60.0  # a guest on KVM answers after some seconds
EMULATION_LIMIT_S = 900.0  # 70 s on an idle core
BANNER_LIMIT_S = 20.0
POLL_S = 1.0
WORDS = 300  # characters of what QEMU printed last


def start(name: str, machine: Machine, images: Path, say: Callable[[str], None]) -> Guest:
    """Make the image if it is missing, boot a guest, and bring the suite into it.

    StackcostError if the name is taken, a program is missing, or the guest does not answer; then
    nothing is left but the image.
    """
    if not re.fullmatch(NAME, name):
        raise StackcostError(
            f"a guest cannot be named {name!r}",
            "choose 1 to 8 lower-case letters and digits, a letter first",
        )
    if name in [guest.name for guest in GUESTS.read()]:
        raise StackcostError(
            f"there is a guest {name}", f"choose another name, or run: stackcost guest stop {name}"
        )
    for program in ("qemu-system-x86_64", "ssh"):
        find_program(program, install_command([PROGRAM_PACKAGES[program]]))
    _check_models(machine)
    make_image(images, say)
    guest = Guest(name, machine, str(images.resolve()), free_port(), starter=os.getpid())
    record(guest)
    try:
        guest = _boot(guest, say)
        engine = portable_engine(say) if guest.emulated else ENGINE
        say("copying the suite into it")
        copy_suite(guest.ssh(), engine)
        guest = replace(guest, starter=0)
        record(guest)
    except BaseException:
        stop(guest)
        raise
    return guest


def _why_no_kvm() -> str:
    """Why this machine cannot try KVM; empty if it can."""
    try:
        os.close(os.open(DEVICE, os.O_RDWR))
    except FileNotFoundError:
        return f"there is no {DEVICE}"
    except OSError as error:
        return f"{DEVICE} cannot be opened: {error.strerror}"
    return ""


def _boot(guest: Guest, say: Callable[[str], None]) -> Guest:
    why = _why_no_kvm()
    if not why:
        say(f"booting by KVM, for at most {KVM_LIMIT_S:g} s")
        if not (why := _run(guest, KVM, KVM_LIMIT_S)):
            return guest
        stop(guest)
        why = f"a try of KVM failed, {why}"
    guest = replace(guest, emulated=why)
    record(guest)
    say(f"booting by emulation ({why}): a minute, or several on a busy machine")
    if failed := _run(guest, EMULATION, EMULATION_LIMIT_S):
        raise StackcostError(f"guest {guest.name} did not start: {failed}")
    return guest


def _run(guest: Guest, accelerator: tuple[str, ...], limit_s: float) -> str:
    """Start QEMU and wait until the SSH server answers; returns why it does not, if so."""
    images = Path(guest.images)
    files = files_of(images, guest.machine.kernel, guest.log)
    command = command_line(guest.name, guest.machine, files, guest.port, accelerator)
    printed = guest.log.with_suffix(".qemu")
    with printed.open("wb") as output:
        # Under nice, so that the generator comes first. The disk's changes are a file of TMPDIR.
        process = subprocess.Popen(
            ["nice", "-n", "10", *command],
            env=os.environ | {"TMPDIR": str(images)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        with first_engine(guest) as engine:

            def is_over() -> bool:
                if process.poll() is None and engine:
                    engine.check()
                return process.poll() is not None or _answers(guest.port)

            answered = wait_until(is_over, limit_s, POLL_S)
        if process.poll() is not None:
            lines = printed.read_text(errors="replace").splitlines()
            said = " ".join(line for line in lines if ": info: " not in line)[-WORDS:]
            return f"QEMU ended with exit status {process.returncode}: {said or 'no message'}"
        return "" if answered else f"it did not answer within {limit_s:g} s; {_last(guest)}"
    finally:
        printed.unlink()


def _last(guest: Guest) -> str:
    """The end of what its serial port said, before that is removed."""
    said = guest.log.read_text(errors="replace").split() if guest.log.exists() else []
    return f"its console said last: {' '.join(said)[-WORDS:] or 'nothing'}"


def _answers(port: int) -> bool:
    """Whether an SSH server greets. QEMU itself accepts the connection before."""
    try:
        with socket.create_connection((ADDRESS, port), BANNER_LIMIT_S) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


def _check_models(machine: Machine) -> None:
    """StackcostError if this QEMU lacks a model of a NIC."""
    command = ["qemu-system-x86_64", "-device", "help"]
    listed = subprocess.run(command, capture_output=True, text=True).stdout
    for model in {nic.model for nic in machine.nics}:
        if f'"{MODELS[model]}"' not in listed:
            raise StackcostError(
                f"this machine's QEMU has no {model} (igb came with QEMU 8.0; Debian 12 has 7.2)",
                f"choose another of {', '.join(MODELS)}",
            )
