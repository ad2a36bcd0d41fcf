"""The engine that a guest with shared NICs needs while it boots."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stackcost.contracts.wiring import Port
from stackcost.guest.machine import SHARED, port_name
from stackcost.guest.running import Guest, free_port
from stackcost.trex.generator import Generator
from stackcost.trex.trex_config import TrexConfig


@contextmanager
def first_engine(guest: Guest) -> Iterator[Generator | None]:
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
        Generator(config, Path(folder), _with_least_priority) as engine,
    ):
        yield engine


def _with_least_priority(argv: list[str], **options: Any) -> "subprocess.Popen[Any]":
    """It polls without pause, while QEMU needs the cores."""
    return subprocess.Popen(["nice", "-n", "19", *argv], **options)
