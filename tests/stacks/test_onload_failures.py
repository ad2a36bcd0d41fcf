"""Every way in which Onload is known to go wrong, played by stand-ins: one test for each."""

import re
from pathlib import Path

import pytest

from stackcost.bed import leftovers
from stackcost.contracts.counts import NOT_SEEN, StackCheck
from stackcost.contracts.errors import StackcostError
from stackcost.host.timeouts import timeout_factor
from stackcost.stacks.onload import interface
from tests.stacks.conftest import Machine

WORKING = {"rx_evs": 9, "tx_evs": 9, "ul_accepts": 3}


def looked_at(machine: Machine, **counters: int) -> StackCheck:
    """The check of a trial in which Onload's counters came to be these."""
    stack = machine.onload()
    stack.prepare()
    processes = machine.start(stack)
    stack.check_stack("before", processes)
    stack.check_stack("during", processes)
    machine.count(**counters)
    stack.check_stack("after", processes)
    return stack.stack_check()


def refused(machine: Machine, case: str) -> StackcostError:
    """The error if the program ends at once."""
    machine.play("")
    stack = machine.onload()
    stack.prepare()
    machine.play(case)
    machine.start(stack)
    return stack.explain(StackcostError("nginx ended with 1"))


def test_all_is_done_in_the_order_that_works(machine: Machine) -> None:
    assert looked_at(machine, **WORKING).carried == "onload-balanced"
    machine.end()
    machine.onload().release()
    steps = ("modprobe", "register", "onload_mibdump", "onload", "onload_stackdump", "onload_tool")
    done = [" ".join(call) for call in machine.calls(*steps) if call[:1] != ["--dry-run"]]
    done = [step for step in done if not step.endswith(("stacks", "filters"))]
    assert [step.split()[0] for step in done] == [
        "modprobe",  # tried
        "modprobe",
        "register",
        "onload_mibdump",
        "onload",
        "onload_stackdump",
        "onload_tool",
    ]
    assert done[2] == "register sc-server0\n", "the name and a newline"
    assert done[-2:] == ["onload_stackdump -z kill", "onload_tool unload --onload-only"]
    assert machine.installation.flow_filters.read_text() == "0"


def test_modules_absent(machine: Machine) -> None:
    machine.play("modules absent")
    with pytest.raises(StackcostError, match=r"lacks its kernel modules .*not found in directory"):
        machine.onload().prepare()
    assert not machine.calls("onload", "register")


def test_a_slow_host_has_longer_to_load_and_unload_the_modules(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interface, "MODULES_LIMIT_S", 0.001)  # less than any program takes
    with pytest.raises(StackcostError, match=r"modprobe onload did not end in 0.001 s"):
        machine.onload().prepare()
    with timeout_factor(6e4):
        machine.onload().prepare()
    with pytest.raises(StackcostError, match=r"did not end in 0.001 s"):
        machine.onload().release()
    assert interface.registered() and machine.installation.module.exists()
    with timeout_factor(6e4):
        machine.onload().release()
    assert not interface.registered() and not machine.installation.module.exists()


def test_no_free_virtual_interface(machine: Machine) -> None:
    told = refused(machine, "no virtual interface")
    assert "no virtual interface was free" in told.what and "-z kill" in told.hint
    (started,) = machine.calls("onload")
    assert started[-1] == "0", "with EF_NO_FAIL=1 it would have run on the kernel in silence"


def test_control_plane_server_missing_falls_back_and_counts_as_kernel(machine: Machine) -> None:
    machine.play("no control plane")
    check = looked_at(machine, **WORKING)
    assert check.carried == "kernel" and check.wanted == "onload-balanced"
    why = check.why
    assert why.startswith("Onload's control-plane server did not start")
    assert "worker-0 has 1 TCP sockets of the kernel" in why


@pytest.mark.parametrize(
    ("link", "case", "told"),
    [
        ("sc-dummy", "", "no native XDP .*would panic the kernel"),
        ("sc-bridge", "", "no native XDP .*would panic the kernel"),
        ("sc-server0", "two queues", "2 receive queues"),
    ],
)
def test_an_interface_without_native_xdp_or_of_two_queues_is_never_registered(
    machine: Machine, link: str, case: str, told: str
) -> None:
    machine.play(case)
    with pytest.raises(StackcostError, match=told):
        machine.onload(link=link).prepare()
    assert not machine.calls("register", "onload")


def test_what_cannot_be_registered_is_said_before_a_run(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then only its systems are not measured; from `prepare` it would end the run."""
    monkeypatch.setattr(interface, "SYS_NET", tmp_path / "net")
    for name in ("sc-dummy", "sc-veth"):
        (tmp_path / "net" / name).mkdir(parents=True)
    told = interface.refused(machine.installation, ["sc-veth", "sc-dummy"])
    assert told.startswith("Onload cannot run here: sc-dummy has no native XDP")
    assert not interface.refused(machine.installation, ["sc-veth", "not there"])
    assert not interface.refused(machine.installation, [])
    machine.play("two queues")
    assert "2 receive queues" in interface.refused(machine.installation, ["sc-veth"])
    machine.play("own driver")
    assert not interface.refused(machine.installation, ["sc-dummy"])
    assert not machine.calls("register", "modprobe")


def test_a_kernel_without_af_xdp_is_known_by_its_protocols(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interface, "SYS_NET", tmp_path)
    (tmp_path / "sc-server0").mkdir()
    machine.installation.protocols.write_text("protocol  size\nTCP       2304\n")
    for interfaces in ([], ["sc-server0"]):
        assert "the kernel has no AF_XDP" in interface.refused(machine.installation, interfaces)
    with pytest.raises(StackcostError, match="the kernel has no AF_XDP"):
        machine.onload().prepare()
    assert not machine.calls("register")
    machine.play("own driver")
    assert not interface.refused(machine.installation, ["sc-server0"])


def test_an_interface_that_onload_can_do_nothing_with_is_let_go(machine: Machine) -> None:
    machine.play("no abilities")
    with pytest.raises(StackcostError, match="nic_flags are 0"):
        machine.onload().prepare()
    assert not machine.calls("onload") and machine.calls("onload_tool")
    assert not interface.registered()


def test_a_registered_interface_is_not_deleted_while_the_modules_stay(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = machine.onload()
    stack.prepare()
    machine.play("modules in use")
    there = ["stackcost-server"]
    monkeypatch.setattr(leftovers, "remove_namespace", there.remove)
    monkeypatch.setattr(leftovers, "existing_namespaces", lambda: list(there))
    monkeypatch.setattr(leftovers, "processes_inside", lambda name: [])
    monkeypatch.setattr(leftovers, "Installation", lambda: machine.installation)
    modules, namespace = leftovers.undo_all()
    assert re.search(r"module is in use.*sc-server0 cannot be deleted", modules.reason)
    assert "release sc-server0 from Onload" in namespace.reason
    assert there and all(step.blocks for step in (modules, namespace))
    machine.play("")
    modules, namespace = leftovers.undo_all()
    assert modules.done and modules.what == "release sc-server0 from Onload"
    assert namespace.done and not there and not interface.registered()


def test_connections_that_went_through_the_kernel_count_as_the_kernels(machine: Machine) -> None:
    stack = machine.onload()
    stack.prepare()
    processes = machine.start(stack)
    stack.check_stack("before", processes)
    stack.check_stack("during", processes)
    machine.count(**WORKING, no_match_pass_to_kernel_tcp=5)
    machine.kernel_counts(4)
    stack.check_stack("after", processes)
    check = stack.stack_check()
    assert check.carried == "kernel"
    for said in ("TcpPassiveOpens moved by 4", "TcpInSegs moved by 4", "passed to the kernel"):
        assert said in check.why


def test_an_orphan_of_a_killed_program_is_freed_before_the_next(machine: Machine) -> None:
    machine.play("orphan")
    machine.onload().prepare()
    assert machine.calls("onload_stackdump")[-1] == ["onload_stackdump", "-z", "kill"]


def test_hugepages_are_left_out_by_af_xdp_and_the_result_says_so(machine: Machine) -> None:
    stack = machine.onload("haproxy-balanced")
    stack.prepare()
    machine.start(stack)
    assert "EF_USE_HUGE_PAGES 0\n" in (stack.placement.folder / "onload.opf").read_text()
    adjusted = {each["name"]: each for each in stack.describe()["adjusted"]}
    assert adjusted["EF_USE_HUGE_PAGES"]["published"] == "2" and stack.describe()["af_xdp"]


@pytest.mark.parametrize(("link", "address"), [("lo", "48.0.0.1"), ("sc-server0", "127.0.0.1")])
def test_loopback_is_refused(machine: Machine, link: str, address: str) -> None:
    with pytest.raises(StackcostError, match="over loopback"):
        machine.onload(link=link, listens=(address, 80)).prepare()


def test_a_server_that_accepts_nothing_is_seen_on_no_stack(machine: Machine) -> None:
    """As one without descriptors, or whose client is in its namespace."""
    check = looked_at(machine, rx_evs=9, tx_evs=9)
    assert check.carried == NOT_SEEN and "Onload's ul_accepts did not move" in check.why


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("cluster", "EF_CLUSTER_SIZE=0"),
        ("no profile", "does not know a profile"),
        ("no interface", "no interface in the program's namespace"),
        ("flow filters on", "flow filters"),
        ("modules absent", "modprobe onload"),
    ],
)
def test_a_program_that_ends_at_once_is_told_why(machine: Machine, case: str, told: str) -> None:
    assert told in str(refused(machine, case))


def test_a_nic_of_onloads_own_is_neither_registered_nor_adjusted(machine: Machine) -> None:
    machine.play("own driver")
    stack = machine.onload("haproxy-balanced")
    stack.prepare()
    assert not machine.calls("register") and not interface.registered()
    changed = {each["name"] for each in stack.describe()["adjusted"]}
    assert changed - {"EF_SOCKET_CACHE_MAX"} == {"EF_NO_FAIL"}, "the cache follows open files"
    stack.release()
    assert not machine.calls("onload_tool"), "the NIC's own driver is not ours to unload"


def test_without_all_three_looks_it_is_not_onload(machine: Machine) -> None:
    stack = machine.onload()
    stack.prepare()
    processes = machine.start(stack)
    stack.check_stack("before", processes)
    assert stack.stack_check().carried == NOT_SEEN
    assert "after the load: not observed" in stack.stack_check().why
