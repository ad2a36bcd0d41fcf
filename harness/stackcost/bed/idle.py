"""Idle cores stay in the kernel's polling state while the test bed exists.

A core that halts between packets needs a wake-up for the next packet: an interrupt from the other
core, and on a virtual machine two exits to the hypervisor. That cost would count as the cost of the
connection, but it depends on the machine and its other guests, not on the stack. Measured on two
virtual cores at 2,000 connections/s of nginx: with halting cores 138 us per connection, and 12 %
between trials; with polling cores 94 us, 3 % between trials, and no wake-up interrupt. The
network-latency profile of tuned sets the same as force_latency.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DEVICE = Path("/dev/cpu_dma_latency")


@contextmanager
def cores_awake() -> Iterator[str]:
    """Keep all cores awake until exit; yields a description of the idle state for the manifest.

    Documentation/admin-guide/pm/cpuidle.rst, PM QoS: the request for an exit latency of zero
    microseconds lasts as long as the device is open, so it always ends with this process. On a
    machine without the device, or without a polling idle state, idle cores still halt.
    """
    try:
        device = DEVICE.open("wb", buffering=0)
    except OSError as error:
        yield f"as the machine does: {DEVICE}: {error.strerror}"
        return
    with device:
        device.write(struct.pack("i", 0))
        yield _said_by_driver()


def _said_by_driver(folder: Path = Path("/sys/devices/system/cpu/cpuidle")) -> str:
    try:
        driver = (folder / "current_driver").read_text().strip()
    except OSError:
        driver = "none"
    if driver == "none":
        return "as the machine does: no cpuidle driver, so no polling idle state"
    return f"awake: {DEVICE} held at 0 us, cpuidle driver {driver}"
