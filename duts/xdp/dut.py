"""A router, and a balancer of layer 4, that are one BPF program on each interface (XDP)."""

import json
import tempfile
from collections.abc import Sequence
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any, ClassVar, Literal

from stackcost.collect.kernel import configuration
from stackcost.contracts.addresses import BACKEND_ADDRESS
from stackcost.contracts.errors import StackcostError
from stackcost.duts.base import Dut
from stackcost.host.compiler import compile_bpf
from stackcost.host.namespace import execute

SOURCE = Path(__file__).parent / "router.bpf.c"
NEEDS = ("BPF_SYSCALL", "BPF_JIT")
MODES = {1: "driver", 2: "generic"}  # XDP_ATTACHED_DRV, XDP_ATTACHED_SKB, linux/if_link.h


class XdpForwarding(Dut):
    """Forwards in the driver (native XDP), before the kernel makes a packet of the frame.

    `mode`: driver, or generic: in softirq, on the packet that the driver has made.
    """

    name = "dut/xdp_forwarding"
    ip_versions = (4,)
    mode: ClassVar[Literal["driver", "generic"]] = "driver"

    def configure(self) -> None:
        """A router whose forwarding the program takes over.

        A frame that XDP sends on has no place for "the checksum is still to be made", which veths
        hand over otherwise, so who sends to it makes whole checksums, as on a NIC without offload.
        """
        super().configure()
        for namespace, interface in () if self.endpoint.neighbours else self.wired.generator_ends:
            execute(namespace, ["ethtool", "-K", interface, "tx", "off"])
        self.attach(self.interfaces)

    def attach(self, interfaces: Sequence[str]) -> None:
        """Compile the program and attach it; StackcostError with the kernel's words if refused."""
        how = "xdpdrv" if self.mode == "driver" else "xdpgeneric"
        with tempfile.NamedTemporaryFile(prefix="stackcost-", suffix=".o") as image:
            image.write(compile_bpf(SOURCE, self.defines()))
            image.flush()
            for interface in interfaces:
                try:
                    self.ip(f"link set dev {interface} {how} object {image.name} section xdp")
                except StackcostError as error:
                    what = f"{self.name} cannot attach to {interface}: {error.what}"
                    raise StackcostError(what, _advice(self.mode)) from error

    def defines(self) -> list[str]:
        """Macros for the program."""
        return []

    def check_health(self) -> None:
        """Check the routes, and that each interface has the program in the mode that was asked."""
        super().check_health()
        for interface in self.interfaces:
            (link,) = json.loads(self.execute("ip", "-json", "link", "show", "dev", interface))
            seen = MODES.get(link.get("xdp", {}).get("mode"), "none")
            if seen != self.mode:
                raise StackcostError(
                    f"{self.name}: XDP on {interface} is {seen} instead of {self.mode}"
                )

    def describe(self) -> dict[str, Any]:
        """With the mode and the program."""
        return super().describe() | {
            "xdp": self.mode,
            "program": SOURCE.read_text(),
            "defines": self.defines(),
        }


class XdpForwardingGeneric(XdpForwarding):
    """The same in softirq."""

    name = "dut/xdp_forwarding_generic"
    mode = "generic"


class XdpService(XdpForwarding):
    """Leads clients of the service's address to one of its `endpoints`, by a hash; no table."""

    name = "dut/xdp_service"
    passes_every_port = False
    backend_at = BACKEND_ADDRESS

    def defines(self) -> list[str]:
        """The service and its endpoints, all of them the one server behind."""
        endpoints = [hex(int(IPv4Address(self.backend_at)))] * self.settings.dut.endpoints
        return [
            f"SERVICE={hex(int(IPv4Address(self.endpoint.address)))}",
            f"ENDPOINTS={','.join(endpoints)}",
        ]


class XdpServiceGeneric(XdpService):
    """The same in softirq."""

    name = "dut/xdp_service_generic"
    mode = "generic"


def _advice(mode: str) -> str:
    """What to change where the kernel refuses the program."""
    known = configuration()
    missing = [f"CONFIG_{name}=y" for name in NEEDS if known is not None and name not in known]
    if missing:
        return f"the kernel needs {', '.join(missing)}"
    if mode == "driver":
        return "run as root; where the driver has no XDP, take the kind whose name ends in _generic"
    return "run as root"
