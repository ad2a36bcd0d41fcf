"""What a guest is made of, and the command line of QEMU that makes it."""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import GUEST_PRODUCT, LINK_PREFIX

SHARED = "vhost-user"  # a virtio NIC whose other side is a port of the engine
MODELS = {
    "virtio": "virtio-net-pci",
    SHARED: "virtio-net-pci",
    "e1000e": "e1000e",
    "igb": "igb",
    "vmxnet3": "vmxnet3",
}
IMAGES = Path("/var/cache/stackcost/guests")
KERNELS = ("6.1", "6.12")  # of Debian 12
NAME = r"[a-z][a-z0-9]{0,7}"  # an interface of ours has it in its name, of 15 characters at most
PREFIX = "stackcost-guest-"  # of the names of QEMU's processes
MOST_QUEUES = 8
FIRST_NIC = 0x10  # slot on PCI bus 0; systemd names the interface after it (systemd.net-naming(7))
SSH_SLOT, DISK_SLOT, RANDOM_SLOT = 2, 3, 4
SSH_INTERFACE, SSH_ADDRESS = f"enp0s{SSH_SLOT}", "10.0.2.15/24"  # of QEMU's user network
KVM = ("-accel", "kvm", "-cpu", "host")
EMULATION = ("-accel", "tcg,thread=multi", "-cpu", "max")
# Frames of a NIC without these are whole: at most the MTU long, with checksums.
OFFLOADS = (
    *("csum", "gso", "host_tso4", "host_tso6", "host_ecn", "host_ufo"),
    *("guest_csum", "guest_tso4", "guest_tso6", "guest_ecn", "guest_ufo"),
)


@dataclass(frozen=True, slots=True)
class Nic:
    """One virtual NIC for test traffic. `queues`: pairs of queues; only virtio has more than 1."""

    model: str
    queues: int = 1


@dataclass(frozen=True, slots=True)
class Machine:
    """A virtual machine.

    `cores`: physical cores as the guest sees them, of all nodes; `threads`: hardware threads of
    each. `nodes`: NUMA nodes, among which cores and memory are divided; the NICs belong to none.
    `memory_mb`: MB of 2^20 bytes. `kernel`: of `KERNELS`.
    """

    cores: int = 2
    threads: int = 1
    nodes: int = 1
    memory_mb: int = 2048
    nics: tuple[Nic, ...] = (Nic("virtio"),)
    kernel: str = KERNELS[0]

    def __post_init__(self) -> None:
        if self.kernel not in KERNELS:
            raise StackcostError(
                f"there is no kernel {self.kernel} in the image of guests",
                f"choose one of {', '.join(KERNELS)}",
            )
        if self.cores % self.nodes or self.memory_mb % self.nodes:
            raise StackcostError(
                f"{self.cores} cores and {self.memory_mb} MB cannot be divided among "
                f"{self.nodes} NUMA nodes",
                "choose a multiple of the nodes for both",
            )


@dataclass(frozen=True, slots=True)
class Files:
    """Files of a guest. `log`: what its serial port says; sockets of its NICs are beside it."""

    kernel: Path
    initrd: Path
    disk: Path
    log: Path


def parse_nic(text: str) -> Nic:
    """A NIC of an option: MODEL or virtio:QUEUES. StackcostError if it is neither."""
    found = re.fullmatch(r"([\w-]+)(?::(\d+))?", text)
    model, queues = (found[1], int(found[2] or 1)) if found else (text, 1)
    if model not in MODELS:
        raise StackcostError(f"there is no NIC {text!r}", f"choose one of {', '.join(MODELS)}")
    if not 1 <= queues <= MOST_QUEUES or (queues > 1 and model != "virtio"):
        raise StackcostError(
            f"NIC {text!r} is refused: virtio has 1 to {MOST_QUEUES} queues, the others have 1",
            "for several queues name virtio:QUEUES",
        )
    return Nic(model, queues)


def tap_name(guest: str, at: int) -> str:
    """The interface of this machine behind a guest's NIC number `at`."""
    return f"{LINK_PREFIX}{guest}{at}"


def socket_path(guest: str, at: int, folder: Path) -> Path:
    """The socket by which an engine gets the memory of NIC number `at`, if that is shared."""
    return folder / f"{tap_name(guest, at)}.socket"


def port_name(guest: str, at: int, folder: Path) -> str:
    """The engine's name of the port behind a shared NIC: DPDK's device and its arguments.

    QEMU listens at the socket and the engine connects, so the guest stays when an engine ends.
    """
    return f"net_vhost{at},iface={socket_path(guest, at, folder)},client=1"


def interface_name(at: int) -> str:
    """The guest's own name of its NIC number `at`."""
    return f"enp0s{FIRST_NIC + at}"


def pci_address(at: int) -> str:
    """The PCI address of its NIC number `at`, in the guest."""
    return f"0000:00:{FIRST_NIC + at:02x}.0"


def command_line(
    name: str, machine: Machine, files: Files, ssh_port: int, accelerator: Sequence[str]
) -> list[str]:
    """The command that runs a guest until it is switched off.

    Its SSH server is at `ssh_port` of 127.0.0.1. QEMU's user network for that is restricted: it
    lets nothing out, neither to this machine nor beyond. The disk is not written to: changes go to
    a file without a name that ends with QEMU. Each NIC has a tap that QEMU makes, which is down,
    without an address, and ends with QEMU; or a socket, if it is shared. QEMU waits at each socket
    until an engine has connected once.
    """
    command = ["qemu-system-x86_64", "-name", PREFIX + name, "-nodefaults", "-no-user-config"]
    command += ["-display", "none", "-machine", "q35", *accelerator, *_processors(machine)]
    command += ["-smbios", f"type=1,product={GUEST_PRODUCT}", "-no-reboot"]
    command += ["-serial", f"file:{files.log}"]
    command += ["-kernel", str(files.kernel), "-initrd", str(files.initrd)]
    command += ["-append", "root=/dev/vda rw console=ttyS0"]
    command += ["-drive", f"file={files.disk},format=raw,if=none,id=disk,snapshot=on"]
    command += ["-device", f"virtio-blk-pci,drive=disk,addr={DISK_SLOT:#x}"]
    command += ["-device", f"virtio-rng-pci,addr={RANDOM_SLOT:#x}"]
    forward = f"hostfwd=tcp:127.0.0.1:{ssh_port}-:22"
    command += ["-netdev", f"user,id=ssh,restrict=on,{forward}"]
    command += ["-device", f"virtio-net-pci,netdev=ssh,addr={SSH_SLOT:#x},romfile="]
    for at, nic in enumerate(machine.nics):
        if nic.model == SHARED:
            emulated = tuple(accelerator) == EMULATION
            command += _shared_nic(name, at, socket_path(name, at, files.log.parent), emulated)
        else:
            command += _nic(name, at, nic)
    return command


def _processors(machine: Machine) -> list[str]:
    """The topology: a socket for each NUMA node."""
    per_node = machine.cores // machine.nodes
    processors = machine.cores * machine.threads
    command = ["-smp", f"{processors},sockets={machine.nodes},cores={per_node}"]
    command[-1] += f",threads={machine.threads}"
    command += ["-m", f"{machine.memory_mb}M"]
    # The engine reads and writes the memory of a guest with shared NICs.
    shared = any(nic.model == SHARED for nic in machine.nics)
    kind, sharing = ("memfd", ",share=on") if shared else ("ram", "")
    if shared or machine.nodes > 1:
        for node in range(machine.nodes):
            first = node * per_node * machine.threads
            last = first + per_node * machine.threads - 1
            size = machine.memory_mb // machine.nodes
            command += ["-object", f"memory-backend-{kind},id=memory{node},size={size}M{sharing}"]
            command += ["-numa", f"node,nodeid={node},cpus={first}-{last},memdev=memory{node}"]
    return command


def _nic(guest: str, at: int, nic: Nic) -> list[str]:
    """A NIC and its tap. Frames have whole checksums and at most the MTU, as on a wire."""
    tap = f"tap,id=nic{at},ifname={tap_name(guest, at)},script=no,downscript=no,vnet_hdr=off"
    device = _device(guest, at, nic.model)
    if nic.queues > 1:
        tap += f",queues={nic.queues}"
        # Interrupts: one for each queue in each direction, for configuration and control queue.
        device += f",mq=on,vectors={2 * nic.queues + 2},rss=on,hash=on"
    return ["-netdev", tap, "-device", device]


def _shared_nic(guest: str, at: int, path: Path, emulated: bool) -> list[str]:
    """A NIC whose queues are in memory that an engine shares. It may come and go: QEMU listens."""
    device = _device(guest, at, SHARED) + "".join(f",{name}=off" for name in OFFLOADS)
    if emulated:
        device += ",vectors=0"  # QEMU 7.2 crashes when MSI-X of such a NIC is set up without KVM
    socket = f"socket,id=wire{at},path={path},server=on,wait=off"
    netdev = f"{SHARED},id=nic{at},chardev=wire{at}"
    return ["-chardev", socket, "-netdev", netdev, "-device", device]


def _device(guest: str, at: int, model: str) -> str:
    place = f"{MODELS[model]},netdev=nic{at},addr={FIRST_NIC + at:#x},romfile="
    return f"{place},mac={_mac(guest, at)}"


def _mac(guest: str, at: int) -> str:
    """A locally administered address, different for each guest."""
    digest = zlib.crc32(guest.encode()).to_bytes(4, "big")
    return ":".join(f"{byte:02x}" for byte in (0x52, *digest, at))
