"""How the cores idle while the test bed stands: awake, in the kernel's polling state.

A core that halts between packets has to be woken for the next: an interrupt from the other core,
and on a virtual machine an exit to the hypervisor each way. That is billed to the connection, and
depends on the machine and on what its other guests do, not on the stack. Measured on two virtual
cores at 2,000 connections/s of nginx: 138 us per connection when halting, trials apart by 12 %;
94 us, trials apart by 3 %, without a single wake-up interrupt when awake. Known as force_latency
in tuned's network-latency profile.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DEVICE = Path("/dev/cpu_dma_latency")


@contextmanager
def cores_awake() -> Iterator[str]:
    """Hold all cores awake until exit; yields how they idle, in words for the manifest.

    Documentation/admin-guide/pm/cpuidle.rst, PM QoS: the request of zero microseconds of exit
    latency lasts as long as the device is open, so it ends with this process however that ends. A
    machine without the device, or without a polling idle state, goes on halting.
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
