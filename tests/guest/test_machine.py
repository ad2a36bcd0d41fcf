"""What a guest is made of becomes QEMU's command line; what cannot be made is refused."""

from itertools import pairwise
from pathlib import Path

import pytest

from stackcost.bed.guest_machine import (
    EMULATION,
    KVM,
    SHARED,
    Files,
    Machine,
    Nic,
    command_line,
    interface_name,
    parse_nic,
    pci_address,
    port_name,
    tap_name,
)
from stackcost.contracts.errors import StackcostError

FILES = Files(Path("/i/vmlinuz"), Path("/i/initrd"), Path("/i/disk.img"), Path("/r/guest.log"))


def line(machine: Machine) -> str:
    return " ".join(command_line("b", machine, FILES, 2222, EMULATION))


def options(machine: Machine, name: str) -> list[str]:
    """The values of each option of this name."""
    words = command_line("b", machine, FILES, 2222, EMULATION)
    return [after for word, after in pairwise(words) if word == name]


def test_cores_threads_and_nodes_are_those_of_the_options() -> None:
    machine = Machine(cores=4, threads=2, nodes=2, memory_mb=4096)
    assert options(machine, "-smp") == ["8,sockets=2,cores=2,threads=2"]
    assert options(machine, "-m") == ["4096M"]
    assert options(machine, "-numa") == [
        "node,nodeid=0,cpus=0-3,memdev=memory0",
        "node,nodeid=1,cpus=4-7,memdev=memory1",
    ]
    assert options(machine, "-object") == [
        "memory-backend-ram,id=memory0,size=2048M",
        "memory-backend-ram,id=memory1,size=2048M",
    ]
    assert options(Machine(), "-numa") == []


def test_each_nic_has_a_tap_of_ours_a_slot_of_its_own_and_its_queues() -> None:
    machine = Machine(nics=(Nic("virtio", 2), Nic("e1000e"), Nic("vmxnet3")))
    taps = [value for value in options(machine, "-netdev") if value.startswith("tap")]
    devices = [value for value in options(machine, "-device") if "netdev=nic" in value]
    assert [tap.split(",")[2] for tap in taps] == [f"ifname={tap_name('b', at)}" for at in range(3)]
    assert "queues=2" in taps[0] and "queues" not in taps[1]
    assert all("script=no" in tap and "vnet_hdr=off" in tap for tap in taps)
    assert [device.split(",")[0] for device in devices] == ["virtio-net-pci", "e1000e", "vmxnet3"]
    assert "mq=on,vectors=6,rss=on" in devices[0] and "mq=on" not in devices[1]
    assert [device.split(",")[2] for device in devices] == ["addr=0x10", "addr=0x11", "addr=0x12"]
    assert (interface_name(1), pci_address(1)) == ("enp0s17", "0000:00:11.0")
    assert len(tap_name("abcdefgh", 99)) <= 15, "Linux cuts longer names"


def test_a_guest_is_reached_from_loopback_only_and_reaches_nothing() -> None:
    (user,) = (value for value in options(Machine(), "-netdev") if value.startswith("user"))
    assert "restrict=on" in user and "hostfwd=tcp:127.0.0.1:2222-:22" in user
    assert "snapshot=on" in line(Machine()), "its changes end with it"
    assert "-nodefaults" in line(Machine()), "no NIC that nobody asked for"


def test_guests_have_different_hardware_addresses() -> None:
    nics = [
        word
        for name in ("a", "b")
        for word in command_line(name, Machine(nics=(Nic("virtio"),) * 2), FILES, 1, EMULATION)
        if "mac=" in word
    ]
    assert len({word.partition("mac=")[2] for word in nics}) == 4


def test_a_shared_nic_has_a_socket_memory_for_the_engine_and_whole_frames() -> None:
    machine = Machine(nics=(Nic("e1000e"), Nic(SHARED)))
    (socket,) = options(machine, "-chardev")
    assert "path=/r/sc-b1.socket,server=on,wait=off" in socket
    assert port_name("b", 1, Path("/r")) == "net_vhost1,iface=/r/sc-b1.socket,client=1"
    assert "vhost-user,id=nic1,chardev=wire1" in options(machine, "-netdev")
    (device,) = (value for value in options(machine, "-device") if "netdev=nic1" in value)
    assert "addr=0x11" in device and "csum=off" in device and "host_tso4=off" in device
    assert "vectors=0" in device
    assert "vectors=0" not in " ".join(command_line("b", machine, FILES, 2222, KVM))
    assert options(machine, "-object") == ["memory-backend-memfd,id=memory0,size=2048M,share=on"]
    assert options(machine, "-numa") == ["node,nodeid=0,cpus=0-1,memdev=memory0"]


@pytest.mark.parametrize(
    "text", ["virtio:0", "virtio:9", "e1000e:2", "vhost-user:2", "ne2000", "virtio:", ""]
)
def test_a_nic_that_no_guest_can_have_is_refused(text: str) -> None:
    with pytest.raises(StackcostError, match=r"virtio"):
        parse_nic(text)


def test_a_nic_is_a_model_with_its_queues() -> None:
    assert [parse_nic(text) for text in ("virtio:4", "vhost-user", "vmxnet3")] == [
        Nic("virtio", 4),
        Nic(SHARED),
        Nic("vmxnet3", 1),
    ]


def test_a_machine_that_cannot_be_divided_or_has_no_kernel_is_refused() -> None:
    with pytest.raises(StackcostError, match="cannot be divided among 2 NUMA nodes"):
        Machine(cores=3, nodes=2)
    with pytest.raises(StackcostError, match=r"choose one of 6\.1, 6\.12"):
        Machine(kernel="5.10")
