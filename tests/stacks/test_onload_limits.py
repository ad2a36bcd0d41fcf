"""What a server on Onload holds: read of Onload, since the kernel's own queues stay empty."""

from stackcost.contracts.counts import Usage
from tests.stacks.conftest import Machine


def test_the_accept_queue_is_that_of_onloads_listeners(machine: Machine) -> None:
    stack = machine.onload()
    stack.prepare()
    machine.start(stack)
    machine.listen((80, 17, 5, 511), (443, 9, 0, 511), (80, 3, 2**32 - 1, 511))
    assert stack.accept_queue("stackcost-server", 80) == Usage(now=12 + 4, limit=2 * 511)


def test_where_onload_has_no_listener_the_accept_queue_is_unknown(machine: Machine) -> None:
    stack = machine.onload()
    machine.listen((80, 17, 5, 511))
    assert stack.accept_queue("stackcost-server", 80) == (
        "orm_json reports no listener of port 80 on Onload"
    )
