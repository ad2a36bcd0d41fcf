"""An interface for Onload: registered for AF_XDP when it has no driver of Onload's own, and let go.

What was registered is written down first. The kernel waits for ever when such an interface is
deleted before Onload's modules are unloaded, so whoever removes a test bed calls `release` before.
"""

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.host.compiler import compile_bpf
from stackcost.host.namespace import OWN, execute, find_program
from stackcost.host.state import StateFile
from stackcost.host.timeouts import scaled_timeout
from stackcost.stacks.onload.installation import Installation

OWN_DRIVERS = ("sfc", "sfc_ef100")
NATIVE_XDP = Path(__file__).parent / "native_xdp.bpf.c"
REGISTERED = StateFile("onload.json", list[list[str]], [])
UNLOAD = ["onload_tool", "unload", "--onload-only"]
MODULES_LIMIT_S = 60.0
SYS_NET = Path("/sys/class/net")


def is_af_xdp(namespace: str, interface: str) -> bool:
    """Whether Onload reaches it by AF_XDP: its driver is none of Onload's own."""
    said = execute(namespace, ["ethtool", "-i", interface])
    driver = re.search(r"^driver: (\S+)", said, re.MULTILINE)
    return driver is None or driver[1] not in OWN_DRIVERS


def load_modules(installation: Installation) -> None:
    """Load Onload's modules; StackcostError when they do not load, or bring no device."""
    if not installation.module.exists():
        tried = _run(["modprobe", "onload"])
        if tried.returncode:
            raise StackcostError(f"Onload's modules do not load: {tried.stderr.strip()}", "dmesg")
    installation.check()


def register(installation: Installation, namespace: str, interface: str) -> None:
    """Register it for AF_XDP, from the namespace that owns it.

    StackcostError, with nothing registered, for one that would harm: without native XDP the next
    program on it panics the kernel, and of several queues Onload serves one, so that connections
    on the others go through the kernel without a word.
    """
    _check_able(installation, namespace, interface)
    _switch_flow_filters_off(installation)
    REGISTERED.write([*registered(), [namespace, interface]])
    execute(namespace, ["tee", str(installation.register)], stdin=f"{interface}\n")
    if not _nic_flags(namespace, interface):
        let_go(installation, namespace, interface)
        raise StackcostError(
            f"Onload registered {interface} without any ability (nic_flags are 0); a program on it "
            "would panic the kernel, so none was started",
            "use an interface with native XDP, such as veth",
        )


def refused(installation: Installation, interfaces: Sequence[str]) -> str:
    """Why Onload cannot be used on interfaces of this machine, in words; empty if it can.

    `interfaces`: free ones, which no test bed has taken; empty for veth pairs, which are still to
    be made. An interface that is not there is left to whoever takes it.
    """
    there = [each for each in interfaces if (SYS_NET / each).exists()]
    try:
        if not interfaces:
            _check_af_xdp(installation)
        for interface in there:
            if is_af_xdp(OWN, interface):
                _check_able(installation, OWN, interface)
    except StackcostError as error:
        return f"Onload cannot run here: {error.what}"
    return ""


def end_orphans(namespace: str) -> None:
    """Free stacks that killed programs left: each keeps its virtual interface."""
    if "<zombie>" in execute(namespace, ["onload_stackdump", "-z", "stacks"]):
        execute(namespace, ["onload_stackdump", "-z", "kill"])


def let_go(installation: Installation, namespace: str, interface: str) -> None:
    """No program of ours uses this interface any more; the last one to be let go unloads.

    Modules serve all interfaces alike, so one that others still use stays registered in the kernel.
    It is safe to forget: as long as another is written down, nothing is deleted before `release`.
    """
    known = registered()
    if [namespace, interface] not in known:
        return
    others = [each for each in known if each != [namespace, interface]]
    if others:
        REGISTERED.write(others)
    else:
        release(installation)


def release(installation: Installation) -> str | None:
    """Let go of every interface that was registered, by unloading Onload's modules.

    Says what was done, None when there was nothing. Programs on Onload have to have ended.
    StackcostError when the modules stay: then the interfaces must not be deleted.
    """
    names = [interface for _, interface in registered()]
    if not names:
        return None
    if installation.module.exists():
        _run(["onload_stackdump", "-z", "kill"])
        tried = _run(UNLOAD)
        said = " ".join((tried.stderr or tried.stdout).split())
        said = said or f"it ended with {tried.returncode}"
        if installation.module.exists():
            raise StackcostError(
                f"Onload's modules do not unload ({said}); {', '.join(names)} cannot be deleted "
                "before, the kernel would wait for ever",
                f"end what uses Onload (onload_stackdump), {' '.join(UNLOAD)}, stackcost clean",
            )
    REGISTERED.write([])
    return f"released {', '.join(names)} from Onload"


def registered() -> list[list[str]]:
    """Namespace and name of each interface that is registered, or was when a run was killed."""
    return REGISTERED.read()


def _check_able(installation: Installation, namespace: str, interface: str) -> None:
    """StackcostError for an interface, or a kernel, that Onload cannot use by AF_XDP."""
    _check_af_xdp(installation)
    _check_native_xdp(namespace, interface)
    _check_one_queue(namespace, interface)


def _check_af_xdp(installation: Installation) -> None:
    """By the kernel's table of protocols, which has its sockets (net/xdp/xsk.c, xsk_proto)."""
    rows = installation.protocols.read_text().splitlines()
    if not any(row.split()[:1] == ["XDP"] for row in rows):
        raise StackcostError(
            f"the kernel has no AF_XDP ({installation.protocols} has no XDP), and without a driver "
            "of Onload's own an interface is reached by nothing else",
            "boot a kernel with CONFIG_XDP_SOCKETS, or use a NIC with Onload's own driver",
        )


def _check_native_xdp(namespace: str, interface: str) -> None:
    """By attaching a program that passes everything, in the driver's mode, and detaching it."""
    device = ["ip", "link", "set", "dev", interface, "xdpdrv"]
    program = compile_bpf(NATIVE_XDP)
    try:
        with tempfile.NamedTemporaryFile(prefix="stackcost-", suffix=".o") as image:
            image.write(program)
            image.flush()
            execute(namespace, [*device, "object", image.name, "section", "xdp"])
        execute(namespace, [*device, "off"])
    except StackcostError as error:
        raise StackcostError(
            f"{interface} has no native XDP ({error.what}); Onload would register it all the same, "
            "and the next program on it would panic the kernel",
            "use an interface with native XDP, such as veth, or a NIC with Onload's driver",
        ) from error


def _check_one_queue(namespace: str, interface: str) -> None:
    queues = execute(namespace, ["ls", f"/sys/class/net/{interface}/queues"]).split()
    number = sum(name.startswith("rx-") for name in queues)
    if number != 1:
        raise StackcostError(
            f"{interface} has {number} receive queues, and Onload serves one by AF_XDP: the "
            "connections on the others would go through the kernel in silence",
            f"ethtool -L {interface} rx 1, or combined 1",
        )


def _switch_flow_filters_off(installation: Installation) -> None:
    installation.flow_filters.write_text("0")
    if installation.flow_filters.read_text().strip() not in ("0", "N"):
        raise StackcostError(
            "Onload's flow filters for AF_XDP stay on; listen() would fail (95)",
            f"echo 0 > {installation.flow_filters}",
        )


def _nic_flags(namespace: str, interface: str) -> int:
    """What Onload says the interface can do; 0 when it does not list it."""
    index = int(execute(namespace, ["cat", f"/sys/class/net/{interface}/ifindex"]))
    said = execute(namespace, ["onload_mibdump", "hwport"])
    found = re.search(rf"nic_flags=([0-9a-f]+)\b.*\bifindex={index}\b", said)
    return int(found[1], 16) if found else 0


def _run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    """StackcostError when it does not end in time: loading and unloading may hang in the kernel."""
    limit = scaled_timeout(MODULES_LIMIT_S)
    try:
        return subprocess.run(
            [find_program(command[0]), *command[1:]], capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        raise StackcostError(f"{' '.join(command)} did not end in {limit:g} s", "dmesg") from None
