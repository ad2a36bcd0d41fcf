"""Energy that the processors used, by their own counters (RAPL), as the kernel's powercap has them.

Documentation/power/powercap/powercap.rst; AMD's processors have them under the same name.
"""

import time
from pathlib import Path

from stackcost.contracts.collector import Collector
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import ENERGY_USED
from stackcost.contracts.sample import Sample

POWERCAP = Path("/sys/class/powercap")
PACKAGES = "intel-rapl:[0-9]*"
JOULE = 1e6  # in microjoules


class Energy(Collector):
    """Reads every processor package: all its cores, its caches and its memory controller.

    `folder`: of the kernel's powercap. A counter that began again from zero goes on.
    """

    name = "energy"
    metrics = (ENERGY_USED,)

    def __init__(self, folder: Path = POWERCAP):
        self._folder = folder
        self._last: dict[str, int] = {}
        self._before: dict[str, int] = {}

    def read(self) -> list[Sample]:
        """Joules of each package since its counter began; StackcostError without such counters."""
        now = time.monotonic()
        packages = [each for each in self._folder.glob(PACKAGES) if each.name.count(":") == 1]
        if not packages:
            raise StackcostError(
                f"the energy is not known: there is no intel-rapl in {self._folder}, as on most "
                "virtual machines"
            )
        return [ENERGY_USED.sample(now, self._joules(each), package=each.name) for each in packages]

    def _joules(self, package: Path) -> float:
        read = int((package / "energy_uj").read_text())
        if read < self._last.get(package.name, 0):
            highest = int((package / "max_energy_range_uj").read_text())
            self._before[package.name] = self._before.get(package.name, 0) + highest
        self._last[package.name] = read
        return (self._before.get(package.name, 0) + read) / JOULE
