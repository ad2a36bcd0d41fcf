"""A server behind an agent: everything that a session asks, faults, and the end of a line."""

import dataclasses
import errno
import fcntl
import inspect
import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_type_hints

import pytest
from pydantic import TypeAdapter

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import flags_of
from stackcost.collect.cpu_account import Detail
from stackcost.contracts.counts import Limits, StackCheck, Usage
from stackcost.contracts.errors import StackcostError
from stackcost.host.waiting import wait_until
from stackcost.hosts import agent, host
from stackcost.hosts.agent import Agent
from stackcost.hosts.clock import over_a_trial
from stackcost.hosts.host import Host, suite_version
from stackcost.hosts.host_sampler import HostSampler
from stackcost.hosts.remote import RemoteServer, remote_server
from stackcost.remote.lines import pack, unpack
from stackcost.remote.stub import Call, RemoteStub, call_of, methods_of
from stackcost.remote.types import decode_arguments, encode_arguments
from stackcost.servers.registry import server_class
from stackcost.sides.generator import RunningGenerator
from stackcost.sides.sampling import Interface
from stackcost.sides.server import RunningServer
from tests.analysis.trials import load_trial
from tests.hosts.pipes import AHEAD_S, Here, Pipes, Reads

NginxKernel = server_class("nginx/kernel")

LIMIT_S = 20.0


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(tmp_path, monkeypatch)


@contextmanager
def opened(here: Here, logs: Path, said: list[str] | None = None) -> Iterator[RemoteServer]:
    say = (said if said is not None else []).append
    with (
        Host("b", here.pipes, say) as to_b,
        remote_server(to_b, NginxKernel, here.plan, logs, (0,)) as side,
    ):
        yield side


def test_everything_that_a_session_asks_comes_through_with_its_types(
    here: Here, tmp_path: Path
) -> None:
    profile = tmp_path / "own.py"
    profile.write_text("# a profile\n")
    said: list[str] = []
    with opened(here.start(), tmp_path / "logs", said) as side:
        assert (side.name, side.ip_version, side.response_length()) == ("nginx/kernel", 6, 1000)
        assert side.wiring == NginxKernel.wiring_for(here.plan.settings)
        assert side.before_trial() == {"opened": 1.5}
        assert side.stack_check(idle=True) == StackCheck(
            "kernel", "kernel", observations={"idle": True}
        )
        assert side.requests_served() is None and side.refusals() == {"full": 3}
        assert side.limits(80) == Limits({"worker-0": Usage(3, 80)}, Usage(1, 511))
        assert side.frames() == [Interface(1, 2), Interface(3, 4)]
        assert (side.dead_timeout_s(), side.open_connections()) == (120, 7)
        side.check_stack("during")
        side.reset()
        side.cut_link()
        with pytest.raises(StackcostError, match="cannot be removed"):
            side.remove_device()
        side.end_connections(80)
        side.serve(profile, {"port": 80})
        described = side.describe()
    assert described == {"test_bed": {"kind": "made up"}, "server": {"version": "1"}}
    (_, kind, plan), *asked, end = here.log
    assert kind is NginxKernel and plan == here.plan
    assert asked == [
        ("check_stack", "during"),
        ("reset",),
        ("cut",),
        ("end", 80),
        ("serve", "own.py", "# a profile\n", {"port": 80}),
    ]
    assert end == "undone" and said == ["test bed"]
    assert (tmp_path / "logs" / "b" / "error.log").read_text() == "[notice] 1#1: start\n"


class Extended(RunningServer):
    """A side with one method more, written once."""

    def retransmissions(self, limits: Limits) -> Limits | None:
        raise AssertionError


def test_a_new_method_of_a_server_needs_no_change_of_a_stub(tmp_path: Path) -> None:
    seen: list[Call] = []

    class Remote(RemoteStub, Extended, of=Extended):
        def __init__(self) -> None:
            pass

        def handle(self, call: Call) -> None:
            seen.append(call)

    Remote().retransmissions(Limits())
    (call,) = seen
    assert call.name == "Extended.retransmissions"
    packed = encode_arguments(call.method, call.arguments)
    assert json.loads(json.dumps(packed)) == packed
    assert decode_arguments(call.method, packed, tmp_path) == {"limits": Limits()}


@pytest.mark.parametrize("kind", [RunningServer, RunningGenerator, Agent, HostSampler])
def test_every_type_of_a_method_can_be_sent(kind: type) -> None:
    for name, method in methods_of(kind).items():
        if name != "sampling":  # a stub makes its own
            hints = get_type_hints(method, include_extras=True)
            assert "return" in hints and len(hints) == len(inspect.signature(method).parameters)
            for hint in hints.values():
                TypeAdapter(hint)


def test_an_interval_without_end_can_be_sent(tmp_path: Path) -> None:
    call = call_of(HostSampler, "read_often", math.inf)
    packed = unpack(pack(encode_arguments(call.method, call.arguments)))
    assert decode_arguments(call.method, packed, tmp_path) == call.arguments


def test_an_error_there_names_the_host_and_how_to_fix_it(here: Here, tmp_path: Path) -> None:
    with opened(here.start(), tmp_path / "logs") as side:
        with pytest.raises(StackcostError) as error:
            side.check()
        assert error.value.what == "host b: nginx has failed: its master has ended"
        assert error.value.hint == "see its log"
        assert side.response_length() == 1000, "the agent lives on"


def test_samples_are_moved_to_the_clock_of_the_controller(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.monotonic

    class Ahead:
        monotonic = staticmethod(lambda: real() + AHEAD_S)

    monkeypatch.setattr(agent, "time", Ahead)
    with opened(here.start(), tmp_path / "logs") as side:
        before = real()
        with side.sampling([Reads(real)], Detail.SYSTEM_CALLS) as sampling:
            first = list(sampling.samples)
            mark = len(first)
            began = real()
            read = sampling.read_now()
            edge = real()
            assert wait_until(lambda: len(sampling.samples) > mark + 20, LIMIT_S)
            assert sampling.samples[:mark] == first, "what comes is put behind what was there"
            new = sampling.samples[mark:]
            readings = sampling.readings
        (clock,) = side.clocks().values()
        after = real()
    assert ("sampling", [], Detail.SYSTEM_CALLS) in here.log
    assert abs(clock.offset_s - AHEAD_S) <= clock.error_s < 1
    assert len(read) == 2, "one of each host"
    assert all(began - 1 < each.time < edge + 1 for each in read)
    times = [each.time for each in new]
    assert before < min(times) and max(times) < after
    assert all(new.count(each) == 1 for each in read), "an edge is kept once"
    found = {each.collector is None: each.samples for each in readings if each.samples[0] in read}
    assert found[False] + found[True] == read, "of a collector here, and of the other host"
    assert len({*times}) == len(times), "nothing is kept twice"


def test_a_clock_that_is_stepped_in_mid_trial_is_in_the_error_of_that_trial(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLOCK_MONOTONIC may jump in a virtual machine that was moved or held."""
    ahead_s, real = 0.0, time.monotonic

    class Stepped:
        monotonic = staticmethod(lambda: real() + ahead_s)

    monkeypatch.setattr(agent, "time", Stepped)
    with opened(here.start(), tmp_path / "logs") as side:
        before = side.clocks()
        ahead_s = 3.0
        after = side.clocks()
    (clock,) = over_a_trial(before, after).values()
    assert abs(clock.offset_s) < 1 and 2 < clock.error_s < 4
    trial = load_trial()
    trial.clocks = {"b": clock}
    (flag,) = (each for each in flags_of(Readings(trial, (1,))) if "clock" in each)
    assert flag.startswith("the clock of host b is known to")


def test_a_full_disk_there_says_so_and_how_to_see_its_use(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with opened(here.start(), tmp_path / "logs") as side:
        profile = tmp_path / "own.py"
        profile.write_text("# a profile\n")
        with monkeypatch.context() as there:
            there.setattr(Path, "write_text", full)
            with pytest.raises(StackcostError) as error:
                side.serve(profile, {})
        assert error.value.what.startswith("host b: no space left on its disk for /")
        assert error.value.hint == "free some space there; to see its use: df -h"
        side.serve(profile, {})


def test_the_end_of_the_input_undoes_everything(here: Here) -> None:
    here.start()
    channel = here.pipes
    started = Host("b", channel, print)
    RemoteServer(started, NginxKernel, here.plan, (0,))
    assert here.log[-1] != "undone"
    channel.requests.close()
    here.thread.join(LIMIT_S)
    assert not here.thread.is_alive() and here.log[-1] == "undone"


def test_a_controller_that_is_silent_counts_as_dead(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_s = 1.5  # 30 heartbeats, of which a busy machine delays some
    monkeypatch.setattr(agent, "SILENCE_LIMIT_S", limit_s)
    monkeypatch.setattr(host, "HEARTBEAT_S", 0.05)
    here.start()
    started = Host("b", here.pipes, print)
    RemoteServer(started, NginxKernel, here.plan, (0,))
    time.sleep(1.3 * limit_s)
    assert here.log[-1] != "undone", "it sends empty lines while it waits"
    started._connection._over.set()
    here.thread.join(LIMIT_S)
    assert here.log[-1] == "undone"


def test_a_line_that_is_cut_ends_every_request_and_keeps_what_was_read(
    here: Here, tmp_path: Path
) -> None:
    with (
        opened(here.start(), tmp_path / "logs") as side,
        side.sampling([], Detail.SOFTIRQS) as sampling,
    ):
        sampling.read_now()
        kept = list(sampling.samples)
        here.pipes.requests.close()
        here.thread.join(LIMIT_S)
        here.pipes.far[1].close()
        said = "host b: the line to its agent has ended: the pipe was cut"
        for ask in (sampling.read_now, side.response_length):
            with pytest.raises(StackcostError, match=said):
                ask()
        sampling.read_often(math.inf)  # every trial ends with it
        assert sampling.samples[: len(kept)] == kept and kept


def test_another_version_is_refused(tmp_path: Path) -> None:
    pipes = Pipes()
    pipes.far[1].write(b'Welcome to b\n[1]\n{"number": 7}\n')  # a login script
    pipes.far[1].write(pack({"version": "0.0.9+abc"}))
    pipes.far[1].flush()
    with pytest.raises(StackcostError) as error:
        Host("b", pipes, print)
    assert "0.0.9+abc" in error.value.what and suite_version() in error.value.what
    assert error.value.hint == "install the same version on both hosts"
    assert pipes.requests.closed


def test_what_a_host_says_in_place_of_the_agent_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pipes = Pipes()
    monkeypatch.setattr(pipes, "end", lambda: "")
    pipes.far[1].write(b"python3: No module named stackcost\n")
    pipes.far[1].close()
    with pytest.raises(StackcostError, match="python3: No module named stackcost"):
        Host("b", pipes, print)


def test_two_controllers_at_one_host_exclude_each_other(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = tmp_path / "lock"
    with holder.open("w") as file:
        file.write("pid 1, since then\n")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        with (
            pytest.raises(StackcostError, match=r"host b: another run is active .*pid 1"),
            opened(here.start(), tmp_path / "logs"),
        ):
            pass
    assert wait_until(lambda: not here.thread.is_alive(), LIMIT_S)


def test_a_plan_is_the_same_after_the_way(here: Here, tmp_path: Path) -> None:
    settings = dataclasses.replace(here.plan.settings, files={"/a": 5}, tls_port=443)
    here.plan = dataclasses.replace(here.plan, settings=settings, interfaces=("eth1",))
    with opened(here.start(), tmp_path / "logs"):
        pass
    assert here.log[0][2] == here.plan
