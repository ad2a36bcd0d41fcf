"""Which parts of Onload this machine has, each established by looking for that very part."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.host.namespace import find_program

PROGRAMS = ("onload", "onload_stackdump", "onload_mibdump", "onload_tool", "orm_json")
INSTALL = "build and install OpenOnload from its source (it is in no package archive)"


@dataclass(frozen=True, slots=True)
class Missing:
    """A part that is not there: `established` says by what that is known."""

    part: str
    established: str
    hint: str


@dataclass(frozen=True, slots=True)
class Installation:
    """Onload's places on a machine whose /sys, /proc and /dev are below `root`."""

    root: Path = Path("/")

    @property
    def device(self) -> Path:
        """The device that accelerated programs open."""
        return self.root / "dev/onload"

    @property
    def module(self) -> Path:
        """There while the module is loaded."""
        return self.root / "sys/module/onload"

    @property
    def register(self) -> Path:
        """Takes names of interfaces to be used by AF_XDP."""
        return self.root / "sys/module/sfc_resource/afxdp/register"

    @property
    def protocols(self) -> Path:
        """The kernel's kinds of sockets."""
        return self.root / "proc/net/protocols"

    @property
    def flow_filters(self) -> Path:
        """Whether AF_XDP interfaces are asked for flow filters, which veth and virtio lack."""
        return self.root / "sys/module/sfc_resource/parameters/enable_af_xdp_flow_filters"

    def missing(self) -> list[Missing]:
        """Every part that this machine lacks, the first to fix first."""
        return [*self._modules(), *self._programs(), *self._driver()]

    def lacks(self) -> str:
        """What is missing as one sentence; empty when nothing is."""
        found = self.missing()
        said = "; ".join(f"{each.part} ({each.established})" for each in found)
        return f"Onload cannot run here, it lacks {said}" if found else ""

    def check(self) -> None:
        """StackcostError naming what is missing and the first thing to do about it."""
        if found := self.missing():
            raise StackcostError(self.lacks(), found[0].hint)

    def _modules(self) -> list[Missing]:
        if self.module.exists() or (self.root / "proc/modules").exists():
            return []
        return [
            Missing(
                "a kernel with loadable modules",
                "there is no /proc/modules",
                "boot a distribution's kernel, 6.1 or newer",
            )
        ]

    def _programs(self) -> list[Missing]:
        absent = []
        for name in PROGRAMS:
            try:
                find_program(name)
            except StackcostError:
                absent.append(name)
        if not absent:
            return []
        return [Missing("its programs", f"no {', '.join(absent)} in PATH", INSTALL)]

    def _driver(self) -> list[Missing]:
        if self.module.exists():
            if self.device.exists():
                return []
            hint = "onload_tool reload --onload-only"
            return [Missing("/dev/onload", "its module is loaded, the device is not there", hint)]
        try:
            tried = subprocess.run(
                [find_program("modprobe"), "--dry-run", "onload"], capture_output=True, text=True
            )
        except StackcostError as error:
            return [Missing("its kernel modules", f"cannot be looked for: {error.what}", INSTALL)]
        if tried.returncode == 0:
            return []
        said = tried.stderr.strip() or f"ended with {tried.returncode}"
        return [Missing("its kernel modules", f"modprobe --dry-run onload: {said}", INSTALL)]
