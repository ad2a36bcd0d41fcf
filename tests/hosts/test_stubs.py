"""Stubs that are not behind a line: a device without a host, and several generators."""

from contextlib import closing
from typing import Any

import pytest

from stackcost.contracts.counts import Limits
from stackcost.contracts.errors import StackcostError
from stackcost.remote.stub import call_of, methods_of
from stackcost.sides import external_device as external
from stackcost.sides import generator_group as group
from stackcost.sides.external_device import NO_HOST, ExternalDevice
from stackcost.sides.generator import RunningGenerator
from stackcost.sides.generator_group import GeneratorGroup, Member
from stackcost.sides.server import RunningServer
from tests.sides.made_up import MadeUpGenerator


class Extended(RunningServer):
    """A server with methods that a device without a host knows nothing of."""

    def retransmissions(self) -> int | None:
        raise AssertionError

    def restart(self) -> None:
        raise AssertionError


@pytest.fixture
def device() -> ExternalDevice:
    made = ExternalDevice.__new__(ExternalDevice)
    made.name = "dut/external"
    return made


def test_answers_are_those_of_methods_that_exist() -> None:
    assert {*external.ANSWERS} <= {*methods_of(RunningServer)}
    assert {*group.ANSWERS} <= {*methods_of(RunningGenerator)}


def test_what_a_device_without_a_host_cannot_tell_is_unknown(device: ExternalDevice) -> None:
    assert device.requests_served() is None and device.dead_timeout_s() is None
    assert device.limits(80) == Limits(no_accept_queue=NO_HOST)
    assert device.handle(call_of(Extended, "retransmissions")) is None


@pytest.mark.parametrize("of, name", [(RunningServer, "cut_link"), (Extended, "restart")])
def test_what_cannot_be_done_with_it_is_refused(
    device: ExternalDevice, of: type, name: str
) -> None:
    with pytest.raises(StackcostError, match=f"dut/external is only reached by .* no {name}"):
        device.handle(call_of(of, name))


def test_several_generators_have_an_answer_to_every_method() -> None:
    given: dict[str, dict[str, Any]] = {
        "ask_server": {"name": "", "address": "", "port": 80, "request": b""},
        "call": {"method": group.SCHEDULE_METHOD, "params": {}},
        "load_profile": {"path": group.Path("http_hold.py"), "tunables": {}},
        "set_network": {"settings": {"rate_mbit": 2}},
        "start": {"mult": 1},
        "supports": {"method": "start"},
        "update": {"mult": 1},
    }
    members = [Member(f"generator-{at}", 0.5, "", MadeUpGenerator(at)) for at in (1, 2)]
    with closing(GeneratorGroup(members)) as both:
        for name in methods_of(RunningGenerator):
            getattr(both, name)(**given.get(name, {}))


def test_an_answer_that_nobody_adds_up_is_refused() -> None:
    class Longer(RunningGenerator):
        def ports(self) -> list[str]:
            raise AssertionError

    members = [Member("generator-1", 1, "", MadeUpGenerator(1))]
    with (
        closing(GeneratorGroup(members)) as one,
        pytest.raises(StackcostError, match="no common answer to ports"),
    ):
        one.handle(call_of(Longer, "ports"))
