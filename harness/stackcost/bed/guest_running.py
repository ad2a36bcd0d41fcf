"""Guests that run on this machine: their records, their processes, and their end."""

import os
import shlex
import socket
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import psutil

from stackcost.bed.guest_image import PREFIX as ENVIRONMENT
from stackcost.bed.guest_image import key_of, known_hosts_of
from stackcost.bed.guest_machine import (
    PREFIX,
    SHARED,
    Machine,
    Nic,
    interface_name,
    pci_address,
    port_name,
    socket_path,
    tap_name,
)
from stackcost.contracts.errors import StackcostError
from stackcost.host.namespace import end_processes
from stackcost.host.state import StateFile, state_folder
from stackcost.host.undo import UndoStep, undo

ADDRESS = "127.0.0.1"
TIMEOUT_FACTOR = 5  # factor that an emulated host needs


@dataclass(frozen=True, slots=True)
class Guest:
    """A guest that was started. `port`: of its SSH server on 127.0.0.1.

    `emulated`: why it does not run on KVM; empty if it does. `starter`: process id of the command
    that starts it; 0 when the guest is ready.
    """

    name: str
    machine: Machine
    images: str
    port: int
    emulated: str = ""
    starter: int = 0

    @property
    def log(self) -> Path:
        """What its serial port says."""
        return log_of(self.name)

    def ssh(self, *words: str) -> list[str]:
        """The command that runs another in the guest."""
        images = Path(self.images)
        options = ("BatchMode=yes", f"UserKnownHostsFile={known_hosts_of(images)}")
        command = ["ssh", "-F", "none", "-i", str(key_of(images)), "-p", str(self.port)]
        for option in (*options, "GlobalKnownHostsFile=none", "IdentitiesOnly=yes"):
            command += ["-o", option]
        return [*command, f"root@{ADDRESS}", *words]

    def process(self) -> psutil.Process | None:
        """QEMU's process, found by the name in its command line; None if it has ended."""
        for process in psutil.process_iter(["cmdline"]):
            line = process.info["cmdline"] or []
            if ("-name", PREFIX + self.name) in pairwise(line):
                return process
        return None

    def wire(self, at: int) -> str:
        """The other end of its NIC number `at`, as an experiment names it: in quotes if needed."""
        if self.machine.nics[at].model == SHARED:
            return f'"{port_name(self.name, at, self.log.parent)}"'
        return tap_name(self.name, at)

    def as_host(self) -> str:
        """The sections of an experiment file that make it the server's host."""
        images, nics = Path(self.images), list(enumerate(self.machine.nics))
        host = {
            "address": ADDRESS,
            "port": self.port,
            "key": key_of(images),
            "known_hosts": known_hosts_of(images),
            "python": f"{ENVIRONMENT}/bin/python",
        }
        settings = ", ".join(f"{key}: {value}" for key, value in host.items())
        lines = ["hosts:", f"  {self.name}: {{{settings}}}"]
        if nics:
            there = ", ".join(interface_name(at) for at, _ in nics)
            here = ", ".join(self.wire(at) for at, _ in nics)
            lines += [
                "bed:",
                f"  server: {{host: {self.name}, interfaces: [{there}]}}",
                f"  load: {{interfaces: [{here}]}}",
            ]
            lines += [f"# {_words(at, nic)}" for at, nic in nics]
        if self.emulated:
            lines += [f"timeout_factor: {TIMEOUT_FACTOR} # it is emulated: {self.emulated}"]
        lines += [f"# to log in: {shlex.join(self.ssh())}"]
        return "\n".join(lines)


GUESTS = StateFile("guests.json", list[Guest], [])


def log_of(name: str) -> Path:
    """The file of a guest's serial port."""
    return state_folder() / f"guest-{name}.log"


def find(name: str) -> Guest:
    """A guest by its name; StackcostError if there is none."""
    guests = {guest.name: guest for guest in GUESTS.read()}
    if name not in guests:
        there = ", ".join(guests) or "none"
        raise StackcostError(f"there is no guest {name}; there are: {there}")
    return guests[name]


def record(guest: Guest) -> None:
    """Write down a guest, in place of what was written down of it."""
    GUESTS.write([*_others(guest), guest])


def stop(guest: Guest) -> UndoStep:
    """End a guest: its disk, its taps and its memory are gone with QEMU's process."""
    step = undo(
        f"stop guest {guest.name}",
        partial(_end, guest),
        lambda: "it still runs" if guest.process() else "",
        "it uses cores and memory, which disturbs figures",
    )
    if step.done:
        guest.log.unlink(missing_ok=True)
        for at, _ in enumerate(guest.machine.nics):
            socket_path(guest.name, at, guest.log.parent).unlink(missing_ok=True)
        GUESTS.write(_others(guest))
    return step


def stop_abandoned() -> list[UndoStep]:
    """End what is left of guests that were not started to the end, or have ended by themselves.

    A guest that is ready stays: it is a host, and no part of a run.
    """
    return [stop(guest) for guest in GUESTS.read() if _is_abandoned(guest)]


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nothing uses."""
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])


def _is_abandoned(guest: Guest) -> bool:
    if guest.starter and guest.starter != os.getpid():
        return not psutil.pid_exists(guest.starter)
    return not guest.starter and guest.process() is None


def _others(guest: Guest) -> list[Guest]:
    return [each for each in GUESTS.read() if each.name != guest.name]


def _end(guest: Guest) -> None:
    if process := guest.process():
        end_processes([process])


def _words(at: int, nic: Nic) -> str:
    queues = f", {nic.queues} queues" if nic.queues > 1 else ""
    return f"{interface_name(at)}: {nic.model}{queues}, PCI address {pci_address(at)}"
