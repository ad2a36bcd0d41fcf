"""The whole test bed, made on this machine and undone by every way a run can end."""

import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackcost.bed import hugepages, network
from stackcost.bed.leftovers import undo_all
from stackcost.bed.local import DEVICE, LocalTestbed
from stackcost.contracts.errors import StackcostError
from stackcost.host.kernel_client import kernel_client
from stackcost.host.namespace import execute, processes_inside
from tests.without_root import python_without_root

HOLD = """
import sys, time
from stackcost.bed.local import LocalTestbed
with LocalTestbed(wanted_hugepages=int(sys.argv[1])) as bed:
    bed.run(bed.server_namespace, ["sleep", "1000"], bed.cpus.server)
    print("made", flush=True)
    time.sleep(1000)
"""


def pages() -> int:
    return int((hugepages.PAGES / "nr_hugepages").read_text())


def free_pages() -> int:
    return int((hugepages.PAGES / "free_hugepages").read_text())


@pytest.fixture
def holder() -> Iterator[subprocess.Popen[str]]:
    """Another process that holds a test bed with a program and more hugepages than there were."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(free_pages() + 8)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "made\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()
    undo_all()


def assert_nothing_left(pages_before: int) -> None:
    assert network.existing_namespaces() == []
    assert pages() == pages_before
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True).stdout
    assert "sc-load0" not in links and "sc-server0" not in links
    assert not subprocess.run(["pgrep", "-x", "-f", "sleep 1000"], capture_output=True).stdout


def wake_up_limit_us() -> int:
    """What the kernel now promises as the longest exit from idle (PM QoS)."""
    with DEVICE.open("rb") as device:
        return int(struct.unpack("i", device.read(4))[0])


@pytest.mark.bed
def test_idle_cores_stay_awake_only_while_the_bed_exists() -> None:
    if not DEVICE.exists():
        pytest.skip(f"this kernel has no {DEVICE}")
    before = wake_up_limit_us()
    with LocalTestbed(wanted_hugepages=0) as bed:
        assert wake_up_limit_us() == 0
        driver = Path("/sys/devices/system/cpu/cpuidle/current_driver")
        can_poll = driver.exists() and driver.read_text().strip() != "none"
        said = str(DEVICE) if can_poll else "no cpuidle driver"
        assert said in bed.describe()["idle_cores"]
    assert wake_up_limit_us() == before > 0


@pytest.mark.bed
@pytest.mark.parametrize(("tcp", "segments"), [("today", 10), ("published", 2)])
def test_a_server_on_the_kernel_has_the_initial_window_of_the_workload(
    tcp: str, segments: int
) -> None:
    window = network.INITIAL_WINDOW[tcp]
    with LocalTestbed(wanted_hugepages=0, initial_window=window) as bed:
        assert f"initcwnd {segments}" in execute(bed.server_namespace, ["ip", "route"])
        assert bed.describe()["initial_window_segments"] == segments


@pytest.mark.bed
def test_addresses_stand_in_the_servers_namespace_alone_and_no_frame_moves_by_itself() -> None:
    with LocalTestbed(wanted_hugepages=0) as bed:
        began = time.monotonic()
        shown = execute(bed.server_namespace, ["ip", "-o", "-4", "addr"])
        assert "198.18.0.2/24" in shown and "48.0.0.1/32" in shown
        way_back = execute(bed.server_namespace, ["ip", "route", "get", "16.0.0.77"])
        assert "via 198.18.0.1 dev sc-server0" in way_back
        assert execute(bed.load_namespace, ["ip", "route"]) == ""
        outside = subprocess.run(["ip", "addr"], capture_output=True, text=True).stdout
        assert "48.0.0.1" not in outside and "198.18.0.2" not in outside
        # Duplicate address detection and router solicitations would come by then.
        time.sleep(max(0.0, began + 2 - time.monotonic()))
        path = f"/sys/class/net/{bed.load_interface}/statistics/rx_packets"
        assert execute(bed.load_namespace, ["cat", path]).strip() == "0"
    assert network.existing_namespaces() == []


@pytest.mark.bed
def test_a_bare_servers_end_has_no_address() -> None:
    with LocalTestbed(kernel_server=False, wanted_hugepages=0) as bed:
        assert "sc-server0" not in execute(bed.server_namespace, ["ip", "-o", "addr"])


@pytest.mark.bed
def test_programs_run_in_their_namespace_on_their_core() -> None:
    with LocalTestbed(wanted_hugepages=0) as bed:
        program = bed.run(
            bed.server_namespace,
            [sys.executable, "-c", "import os; print(os.sched_getaffinity(0)); os.listdir('/sys')"],
            bed.cpus.server,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert program.communicate()[0] == "{1}\n"
        inside = bed.run(bed.server_namespace, ["sleep", "1000"], bed.cpus.server)
        time.sleep(0.1)
        assert [process.pid for process in processes_inside(bed.server_namespace)] == [inside.pid]
        assert os.sched_getaffinity(0) == {0}
    assert inside.poll() is not None
    assert os.sched_getaffinity(0) == set(range(os.cpu_count() or 1))


@pytest.mark.bed
def test_an_error_inside_undoes_everything() -> None:
    before = pages()
    with (
        pytest.raises(ZeroDivisionError),
        LocalTestbed(wanted_hugepages=free_pages() + 8) as bed,
    ):
        bed.run(bed.server_namespace, ["sleep", "1000"], bed.cpus.server)
        assert pages() == before + 8
        raise ZeroDivisionError
    assert_nothing_left(before)


@pytest.mark.bed
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_undoes_everything(
    holder: subprocess.Popen[str], number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    before = pages() - 8
    holder.send_signal(number)
    assert holder.wait(10) != 0
    assert_nothing_left(before)


@pytest.mark.bed
def test_kill_leaves_what_the_next_start_removes(holder: subprocess.Popen[str]) -> None:
    before = pages() - 8
    holder.kill()
    holder.wait()
    assert network.existing_namespaces() == ["stackcost-load", "stackcost-server"]
    assert pages() == before + 8
    with LocalTestbed(wanted_hugepages=0) as bed:
        assert processes_inside(bed.server_namespace) == []
        assert pages() == before
    assert_nothing_left(before)


@pytest.mark.bed
def test_names_without_namespaces_are_removed() -> None:
    """As they stay after a power failure where /run is on a disk."""
    network.NAMESPACE_FOLDER.mkdir(exist_ok=True)
    for name in ("stackcost-load", "stackcost-server"):
        (network.NAMESPACE_FOLDER / name).touch()
    with LocalTestbed(wanted_hugepages=0) as bed:
        assert "48.0.0.1" in execute(bed.server_namespace, ["ip", "addr"])
    assert network.existing_namespaces() == []


@pytest.mark.bed
def test_a_second_run_is_refused_by_name_of_the_first_and_clean_says_what_it_removed(
    holder: subprocess.Popen[str],
) -> None:
    before = pages() - 8
    with pytest.raises(StackcostError, match=f"pid {holder.pid}, since 20"), LocalTestbed():
        pass
    with pytest.raises(StackcostError, match=f"pid {holder.pid}"):
        undo_all()
    assert holder.poll() is None and len(processes_inside("stackcost-server")) == 1
    holder.kill()
    holder.wait()
    said = " ".join(map(str, undo_all()))
    assert (
        "end 1 program" in said
        and "NOT" not in said
        and "stackcost-server" in said
        and "hugepages" in said
    )
    assert_nothing_left(before)
    assert undo_all() == []


@pytest.mark.bed
def test_beds_follow_one_another_at_once() -> None:
    for _ in range(3):
        with LocalTestbed(wanted_hugepages=0) as bed:
            assert execute(bed.load_namespace, ["cat", "/sys/class/net/sc-load0/carrier"]) == "1\n"


@pytest.mark.parametrize(
    ("load", "server", "said"),
    [((0,), (4095,), "cores .4095. do not exist"), ((0,), (0,), "would share cores")],
)
def test_impossible_cores_are_refused(
    load: tuple[int, ...], server: tuple[int, ...], said: str
) -> None:
    with pytest.raises(StackcostError, match=said), LocalTestbed(load, server):
        pass


def test_without_root_it_says_so() -> None:
    done = python_without_root("from stackcost.bed import local; local.check_root()")
    assert "needs root" in done.stderr and "sudo" in done.stderr


SEND = """
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(10):
    sender.sendto(b"x", ("16.0.0.1", 9))
"""


@pytest.mark.bed
def test_frames_to_the_generators_clients_do_not_reach_the_kernels_ip() -> None:
    """The kernel's IP sees them until they are the generator's, and other frames for ever."""
    with LocalTestbed(wanted_hugepages=0) as bed:
        (mac,) = [
            line.split()[1]
            for line in execute(bed.load_namespace, ["ip", "link", "show", "sc-load0"]).splitlines()
            if "link/ether" in line
        ]
        neighbour = ["198.18.0.1", "lladdr", mac, "dev", bed.server_interface]
        execute(bed.server_namespace, ["ip", "neigh", "replace", *neighbour])

        def seen(address: str) -> int:
            """Of ten datagrams."""
            code = SEND.replace("16.0.0.1", address)
            before = received()
            execute(bed.server_namespace, [sys.executable, "-c", code])
            time.sleep(0.1)
            return received() - before

        def received() -> int:
            lines = execute(bed.load_namespace, ["cat", "/proc/net/snmp"]).splitlines()
            names, values = (line.split() for line in lines if line.startswith("Ip:"))
            return int(values[names.index("InReceives")])

        assert seen("16.0.0.1") == 10
        for _ in range(2):  # a second generator says it again
            bed.leave_clients_to_generator()
        assert seen("16.0.0.1") == 0
        assert seen("198.18.0.1") == 10
        with kernel_client():  # as wrk between two engines in a row of the benchmark
            execute(bed.server_namespace, ["ip", "neigh", "replace", *neighbour])
            assert seen("16.0.0.1") == 10
