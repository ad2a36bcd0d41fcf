"""Clients on Onload: checked while they live, since their stacks end with them."""

import pytest

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import flags_of
from stackcost.contracts.counts import NOT_SEEN
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import HttpClients
from stackcost.contracts.trial import Trial
from stackcost.stacks.onload import Onload, interface
from tests.stacks.conftest import Machine


def begun(machine: Machine) -> tuple[Onload, dict[str, int]]:
    """A client that runs and has events of Onload's, looked at before it, and its process."""
    stack = machine.onload("wrk", link="sc-load0", listens=None, workers=1)
    stack.prepare()
    stack.check_stack("before", {})
    processes = {"client-0": machine.start(stack)["worker-0"]}
    machine.count(rx_evs=5, tx_evs=5)
    return stack, processes


@pytest.mark.parametrize(("kernel_connections", "carried"), [(0, "onload-wrk"), (3, "kernel")])
def test_a_client_is_proved_by_what_it_opened(
    machine: Machine, kernel_connections: int, carried: str
) -> None:
    stack, processes = begun(machine)
    machine.kernel_counts(kernel_connections)
    stack.check_stack("during", processes)
    stack.check_stack("after", processes)
    check = stack.stack_check()
    assert check.carried == carried, check
    if kernel_connections:
        assert "the kernel's TcpActiveOpens moved by 3" in check.why
    else:
        assert (
            "EF_SCALABLE_FILTERS_ENABLE 0"
            in stack.placement.folder.joinpath("onload.opf").read_text()
        )


@pytest.mark.parametrize(
    ("case", "carried"), [("busy once", "onload-wrk"), ("no stack", "not seen")]
)
def test_a_look_that_a_tool_failed_in_is_repeated(
    machine: Machine, case: str, carried: str
) -> None:
    """As onload_stackdump did once of a client that opened connections."""
    stack, processes = begun(machine)
    machine.play(case)
    stack.check_stack("during", processes)
    stack.check_stack("after", processes)
    assert stack.stack_check().carried == carried


def test_a_client_that_ended_before_a_look_was_not_seen_on_any_stack(machine: Machine) -> None:
    stack, processes = begun(machine)
    machine.end()
    stack.check_stack("during", processes)
    stack.check_stack("after", processes)
    check = stack.stack_check()
    assert check.carried == NOT_SEEN and not check.as_wanted
    assert check.difference.startswith("not seen to be carried by onload-wrk: during the load: ")
    load = HttpClients(test="rps", stack_check=check)
    (flag,) = [
        flag for flag in flags_of(Readings(Trial("a", 0, 1, load, 1), ())) if "carried" in flag
    ]
    assert flag == "not seen to be carried by onload-wrk"


def test_what_a_server_on_onload_did_is_no_proof_for_its_clients(machine: Machine) -> None:
    """Onload's tools report the stacks of both sides."""
    machine.start(machine.onload())
    stack, processes = begun(machine)
    machine.count({"rx_evs": 90, "tx_evs": 90, "ul_accepts": 9}, rx_evs=0, tx_evs=0)
    stack.check_stack("during", processes)
    stack.check_stack("after", processes)
    assert "Onload's rx_evs did not move" in stack.stack_check().why
    machine.count({"sock_wakes_rx_os": 3}, rx_evs=5, tx_evs=5)
    stack.check_stack("after", processes)
    assert stack.stack_check().as_wanted


def test_several_clients_need_as_many_virtual_interfaces(machine: Machine) -> None:
    with pytest.raises(StackcostError, match=r"4 client processes .* sc-load0 has one"):
        machine.onload("wrk", link="sc-load0", listens=None, workers=4).prepare()
    machine.play("own driver")
    machine.onload("wrk", link="sc-load0", listens=None, workers=4).prepare()


def test_a_folder_that_onload_would_take_for_two_profiles_is_reported(machine: Machine) -> None:
    stack = machine.onload(folder=machine.home / "two, really")
    stack.prepare()
    with pytest.raises(StackcostError, match="stand between profiles"):
        stack.run(["sleep", "1"])
    assert not machine.calls("onload")


def test_clients_that_end_leave_the_modules_to_the_server(machine: Machine) -> None:
    """Both are on Onload: modules that one lets go of are the other's, and cannot be unloaded."""
    server, clients = (
        machine.onload(),
        machine.onload("wrk", link="sc-load0", listens=None, workers=1),
    )
    server.prepare()
    machine.start(server)
    clients.prepare()
    clients.release()
    clients.release()
    assert not machine.calls("onload_tool") and machine.installation.module.exists()
    assert interface.registered() == [["stackcost-server", "sc-server0"]]
    machine.end()
    server.release()
    assert len(machine.calls("onload_tool")) == 1 and not interface.registered()
    assert not machine.installation.module.exists()


def test_a_refused_interface_of_clients_leaves_the_modules_to_the_server(machine: Machine) -> None:
    server = machine.onload()
    server.prepare()
    machine.start(server)
    machine.play("no abilities")
    with pytest.raises(StackcostError, match="nic_flags are 0"):
        machine.onload("wrk", link="sc-load0", listens=None, workers=1).prepare()
    assert not machine.calls("onload_tool") and machine.installation.module.exists()
