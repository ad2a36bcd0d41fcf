"""Interfaces of the machine on a test bed: a tap, as a guest has one behind its NIC."""

import subprocess
from collections.abc import Iterator

import pytest

from stackcost.bed.interfaces import TAKEN
from stackcost.bed.leftovers import undo_all
from stackcost.bed.local import HalfBed, LocalTestbed
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import LOAD_INTERFACE, LOAD_NAMESPACE, TO_SERVER

pytestmark = pytest.mark.bed
TAP = "sc-try0"


def ip(*words: str) -> str:
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def tap() -> Iterator[str]:
    ip("tuntap", "add", TAP, "mode", "tap")
    yield TAP
    subprocess.run(["ip", "link", "del", TAP], capture_output=True)


def bed_on(tap: str) -> LocalTestbed:
    return LocalTestbed(server_cpus=(), wiring=TO_SERVER, part=HalfBed("load", (tap,)))


def test_a_tap_is_taken_and_given_back(tap: str) -> None:
    with bed_on(tap):
        assert TAP not in ip("-br", "link")
        assert LOAD_INTERFACE in ip("-n", LOAD_NAMESPACE, "-br", "link")
    assert TAP in ip("-br", "link")
    assert TAKEN.read() == [] and LOAD_NAMESPACE not in ip("netns")


def test_a_tap_that_ended_with_its_guest_is_nothing_to_give_back(tap: str) -> None:
    with bed_on(tap):
        ip("-n", LOAD_NAMESPACE, "link", "del", LOAD_INTERFACE)
    assert TAKEN.read() == [] and LOAD_NAMESPACE not in ip("netns")
    assert all(step.done for step in undo_all())


def test_a_virtual_device_is_no_interface_that_could_be_moved() -> None:
    with bed_on("net_null0,size=64") as bed:
        assert LOAD_NAMESPACE in ip("netns")
        assert bed.addresses() == [] and bed.steer() == ()
        assert bed.describe()["interfaces"] == ["net_null0,size=64"]
    assert TAKEN.read() == [] and LOAD_NAMESPACE not in ip("netns")


def test_a_socket_that_nothing_made_is_refused() -> None:
    with pytest.raises(StackcostError, match="there is no socket /run/none, which net_vhost0"):
        bed_on("net_vhost0,iface=/run/none,client=1").__enter__()


def test_queues_that_the_generator_would_not_read_are_refused() -> None:
    two = ("numrxqueues", "2", "numtxqueues", "2")
    ip("link", "add", TAP, *two, "type", "veth", "peer", "name", "sc-try1", *two)
    try:
        with pytest.raises(StackcostError, match="has 2 receive queues, and the generator reads 1"):
            bed_on(TAP).__enter__()
    finally:
        ip("link", "del", TAP)
