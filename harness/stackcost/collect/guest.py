"""Whether this machine is a guest of `stackcost guest`, or emulated by any means."""

import time
from pathlib import Path

from stackcost.contracts.collector import Collector
from stackcost.contracts.metrics import MACHINE_GUEST
from stackcost.contracts.sample import Sample
from stackcost.contracts.wiring import GUEST_PRODUCT

PROCESSORS = Path("/proc/cpuinfo")
PRODUCT = Path("/sys/class/dmi/id/product_name")
EMULATED = "QEMU TCG CPU"  # the model's name that QEMU's emulation gives (target/i386/cpu.c)


class Guest(Collector):
    """The mark of a guest; it stays the same, so it is found once.

    `processors`, `product`: files of the kernel.
    """

    name = "guest"
    metrics = (MACHINE_GUEST,)

    def __init__(self, processors: Path = PROCESSORS, product: Path = PRODUCT):
        self._labels = {"by": _made_by(processors, product)}

    def read(self) -> list[Sample]:
        """1 of a guest, 0 of another machine."""
        return [MACHINE_GUEST.sample(time.monotonic(), bool(self._labels["by"]), **self._labels)]


def _made_by(processors: Path, product: Path) -> str:
    """What runs the guest; empty if this machine is none."""
    if EMULATED in processors.read_text():
        return "emulation"
    ours = product.exists() and product.read_text().strip() == GUEST_PRODUCT
    return "KVM" if ours else ""
