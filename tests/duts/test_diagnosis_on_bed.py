"""What a user is told of faults that were made on purpose, on the real bed.

Each is read where a user reads it: on the screen, in the report and in the summary's JSON.
"""

import io
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from stackcost.analysis.ceiling.bottleneck import find_bottleneck
from stackcost.analysis.ceiling.settings import Goal, SearchSettings
from stackcost.analysis.ceiling.stored import SearchKey
from stackcost.analysis.ceiling.summarise import ceiling_of
from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import summarise
from stackcost.analysis.summary import Summary
from stackcost.contracts.addresses import IpVersion
from stackcost.contracts.load import HeldFlows
from stackcost.contracts.server import Server
from stackcost.contracts.system import System
from stackcost.contracts.trial import Trial
from stackcost.duts.base import Dut
from stackcost.duts.tracking import TrackingDut
from stackcost.report.tables import latency_table
from stackcost.report.terminal import print_answer
from stackcost.runs.loads.constant import prepare_load
from stackcost.runs.loads.held import Holds, overflowed
from stackcost.runs.loads.search import Steps
from stackcost.runs.search import search_steps
from stackcost.servers.program import HttpProgram
from stackcost.servers.registry import server_class
from stackcost.session.profile_session import ProfileSession
from tests.analysis.runs import CONTEXT
from tests.duts.bed import DEVICE_CPUS, EXPERIMENT, become, ceiling_trial, load_trial, session_of
from tests.report.opened import first_text
from tests.runs.on_session import follow

Forwarding = server_class("dut/forwarding")

pytestmark = pytest.mark.bed

RATE, SECONDS, DRAIN_S = 300.0, 0.5, 1.0
LONG = EXPERIMENT.model_copy(  # responses of several segments
    update={"workload": EXPERIMENT.workload.model_copy(update={"response_bytes": 8_000})}
)
CHAIN = """table inet fault {{
    chain {hook} {{
        type filter hook {hook} priority filter; policy accept;
        {rule}
    }}
}}
"""
FORWARD, REJECT = partial(CHAIN.format, hook="forward"), "reject with tcp reset"
TO_SERVERS, TO_CLIENTS = 'iifname "sc-dut0"', 'iifname "sc-dut1"'


class MtuHole(Forwarding):
    """The link to the clients takes 1,400 bytes, and the ICMP that says so is dropped."""

    def configure(self) -> None:
        super().configure()
        self.ip("link set sc-dut0 mtu 1400")

    def ruleset(self) -> str:
        return CHAIN.format(hook="output", rule="meta l4proto { icmp, ipv6-icmp } drop")


class DropsAFifth(Forwarding):
    """Drops what the first 40 of the 200 clients send."""

    def ruleset(self) -> str:
        return FORWARD(rule="ip saddr 16.0.0.1-16.0.0.40 drop")


class ForwardHole(Forwarding):
    def ruleset(self) -> str:
        return FORWARD(rule=f"{TO_SERVERS} drop")


class ReturnHole(Forwarding):
    def ruleset(self) -> str:
        return FORWARD(rule=f"{TO_CLIENTS} drop")


class Lossy(Forwarding):
    """Drops a fifth of all frames at random."""

    def ruleset(self) -> str:
        return FORWARD(rule="numgen random mod 5 0 drop")


class Refuses(Forwarding):
    """Answers a fifth of the SYNs with a reset."""

    def ruleset(self) -> str:
        rule = f"tcp flags & (syn | ack) == syn numgen random mod 5 0 {REJECT}"
        return FORWARD(rule=rule)


class CutsOff(Forwarding):
    """Answers a fifth of the requests with a reset."""

    def ruleset(self) -> str:
        rule = f"tcp dport 80 tcp flags & psh == psh numgen random mod 5 0 {REJECT}"
        return FORWARD(rule=rule)


class NoNeighbour(Forwarding):
    """Its next hop to the servers does not answer ARP."""

    def configure(self) -> None:
        super().configure()
        self.ip("route replace 48.0.0.0/8 via 198.19.0.77 dev sc-dut1")


class LimitsOpen(TrackingDut):
    """A limit of 40 open connections; further SYNs are answered with a reset."""

    name = "limits-open"

    def ruleset(self) -> str:
        return FORWARD(rule=f"ct state new ct count over 40 {REJECT}")


class DropsBeyond(TrackingDut):
    """A limit of 40 open connections; further SYNs are dropped."""

    name = "drops-beyond"

    def ruleset(self) -> str:
        return FORWARD(rule="ct state new ct count over 40 drop")


class BreaksInSearch(Forwarding):
    """Passes nothing to the clients from its third trial on."""

    trials = 0

    def ruleset(self) -> str:
        return FORWARD(rule=f"{TO_CLIENTS} drop") if self.trials >= 2 else ""

    def reset(self) -> None:
        self.trials += 1
        self.apply_rules()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProfileSession]:
    """A bed with a device, which each test makes into one of its own."""
    with session_of(Forwarding, tmp_path_factory.mktemp("logs"), LONG) as session:
        yield session


def told(seen: Readings) -> list[str]:
    """What is wrong, in order, as the screen, the report and the JSON say it alike."""
    summary = summary_of(seen.trial)
    (row,) = Summary.model_validate_json(summary.model_dump_json()).trials
    written = io.StringIO()
    print_answer(summary, Console(file=written, width=1_000))
    for words in row.failures:
        assert words in written.getvalue() and words in first_text(summary)
    return row.failures


def summary_of(trial: Trial) -> Summary:
    systems, cores = (System.of(trial.server),), tuple(DEVICE_CPUS)
    return summarise([trial], replace(CONTEXT, systems=systems, pairs=(), server_cpus=cores))


A = r"[\d,]+"
FAILED = rf"{A} of {A} connections failed"
UNFINISHED = rf"{A} flows had not ended at the end of the drain"
LOST = rf"(all {A}|{A} of {A}) frames to {{}} were lost in the device"
SYN_SENT_AGAIN = "no counter shows"


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        pytest.param(
            MtuHole,
            rf"{A} IPv4 packets were longer than the next link's MTU \(IpFragFails\)",
            marks=pytest.mark.long,
        ),
        (DropsAFifth, LOST.format("servers")),
        pytest.param(
            ForwardHole,
            rf"all {A} frames to servers were lost in the device",
            marks=pytest.mark.long,
        ),
        pytest.param(
            ReturnHole,
            rf"all {A} frames to clients were lost in the device",
            marks=pytest.mark.long,
        ),
        pytest.param(Lossy, LOST.format("clients"), marks=pytest.mark.long),
        pytest.param(
            Refuses,
            rf"{A} of {A} connections were refused by a reset \(RST\); "
            rf"the device sent {A} frames of its own",
            marks=pytest.mark.long,
        ),
        pytest.param(
            CutsOff,
            rf"{A} of {A} connections were cut off by a reset \(RST\); "
            rf"the device sent {A} frames of its own",
            marks=pytest.mark.long,
        ),
        (NoNeighbour, r"neighbour 198\.19\.0\.77 does not answer ARP"),
    ],
)
def test_the_lead_of_a_fault_in_a_device(
    session: ProfileSession, kind: type[Dut], first: str
) -> None:
    become(session, kind)
    seen = load_trial(session, RATE, SECONDS, DRAIN_S)
    failures = told(seen)
    assert re.fullmatch(FAILED, failures[0]), failures
    causes = [line for line in failures[1:] if not re.fullmatch(UNFINISHED, line)]
    assert re.fullmatch(first, causes[0]), failures
    assert find_bottleneck(seen).evidence[0].words == causes[0]
    assert SYN_SENT_AGAIN not in " ".join(failures)
    whole = summary_of(seen.trial)
    (level,) = whole.servers[0].levels
    assert level.not_held == "not all passed"
    if kind is MtuHole:  # long responses are counted with their direction
        assert any(re.fullmatch(LOST.format("clients"), line) for line in failures), failures
        assert not any("frames to servers" in line for line in failures)
    if kind is DropsAFifth:  # latency is said to be of those connections that passed
        (row,) = [r for r in latency_table(whole).rows if r[2] == "completion"]
        timed, attempted = (int(each.replace(",", "")) for each in row[3].split(" of "))
        assert 0.7 < timed / attempted < 0.9, row


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        pytest.param(
            LimitsOpen,
            rf"{A} of 60 connections were refused by a reset \(RST\); the device sent",
            marks=pytest.mark.long,
        ),
        (DropsBeyond, LOST.format("servers")),
    ],
)
def test_connections_beyond_a_devices_limit_are_counted(
    session: ProfileSession, kind: type[Dut], words: str
) -> None:
    become(session, kind)
    Steps("flows").prepare(session)
    trial = ceiling_trial(session, "flows", 60)
    assert 0 < trial.traffic.held_flows <= 40
    found = find_bottleneck(Readings(trial, DEVICE_CPUS))
    assert re.match(words, found.evidence[0].words), found.sentence


@pytest.mark.long
def test_flows_that_do_not_open_in_a_run_come_with_the_reason(session: ProfileSession) -> None:
    become(session, ReturnHole)
    trial = Trial("device", 1, 1, HeldFlows(open_flows=20), session.response_bytes)
    words = rf"only 0 of 20 flows opened, at [\d.e]+/s; all {A} frames to clients were lost in the"
    Holds(session.experiment).offer(session, trial)
    assert re.match(words, trial.set_aside) and trial.set_aside == trial.traffic.not_opened
    assert not overflowed(trial), "a lower rate would not help"


@pytest.mark.long
def test_a_return_path_that_breaks_amid_a_search_is_no_ceiling(
    session: ProfileSession, tmp_path: Path
) -> None:
    become(session, BreaksInSearch)
    server = session.local_server.server
    assert isinstance(server, BreaksInSearch)
    server.trials = 0
    settings = SearchSettings(
        goals=(Goal(name="PDR", loss_ratio=0.005),),
        relative_width=0.1,
        initial_trial_duration=0.5,
        final_trial_duration=0.5,
        duration_sum=0.5,
        first_load=500.0,
        most_load=2_000.0,
        repeats=0,
    )
    key = SearchKey("device", "connections", 1)
    steps = partial(search_steps, key=key, settings=settings)
    searched, trials = follow(session, steps, tmp_path)
    assert searched.stopped and len(trials) < 10
    found = ceiling_of(key, trials, settings, DEVICE_CPUS)
    assert re.fullmatch(
        rf"device: no ceiling, as nothing passed any more after trial 2: all {A} frames to clients "
        r"were lost in the device.* \(trial 3\)\. Before, 500 and 1,000 connections/s were held\.",
        found.sentence,
    ), found.sentence


@pytest.fixture(scope="module")
def ipv6_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProfileSession]:
    version: IpVersion = 6
    dut = LONG.dut.model_copy(update={"ip_version": version})
    experiment = LONG.model_copy(update={"dut": dut})
    with session_of(Forwarding, tmp_path_factory.mktemp("logs"), experiment) as session:
        yield session


def test_ipv6_without_packet_too_big_is_told_by_the_length(ipv6_session: ProfileSession) -> None:
    become(ipv6_session, MtuHole)
    failures = told(load_trial(ipv6_session, RATE, SECONDS, DRAIN_S))
    words = "IPv6 packets were longer than the next link's MTU (Ip6InTooBigErrors)"
    assert any(line.endswith(words) for line in failures), failures
    assert any(re.fullmatch(LOST.format("clients"), line) for line in failures), failures
    assert "Ip6FragFails" not in " ".join(failures), "the same packets again"


SERVER = """
import asyncio, sys
address, port, length, fault = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
HEAD = f"HTTP/1.1 200 OK\\r\\nContent-Length: {length}\\r\\nConnection: close\\r\\n\\r\\n".encode()
served = 0

class Connection(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        global served
        self.transport.write(HEAD + b"x" * length)
        self.transport.close()
        served += 1
        if served == 60:
            FAULTS[fault]()

def closes():
    server.close()

def accepts_no_more():
    loop.remove_reader(server.sockets[0].fileno())

FAULTS = {"closes": closes, "accepts-no-more": accepts_no_more}
loop = asyncio.new_event_loop()
server = loop.run_until_complete(loop.create_server(Connection, address, port, backlog=8))
loop.run_forever()
"""


class Fails(HttpProgram):
    """Answers 60 requests, then has its fault."""

    fault = ""

    def command(self) -> list[str]:
        where = self.endpoint
        arguments = [where.address, str(where.port), str(self.body_bytes), self.fault]
        return [sys.executable, "server.py", *arguments]

    def write_files(self) -> None:
        (self.endpoint.folder / "server.py").write_text(SERVER)


class Closes(Fails):
    name = fault = "closes"


class AcceptsNoMore(Fails):
    name = fault = "accepts-no-more"


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        (Closes, rf"{A} of {A} connections were (refused|cut off).* by a reset \(RST\)"),
        pytest.param(
            AcceptsNoMore,
            "9 connections waited to be accepted; there is room for 8",
            marks=pytest.mark.long,
        ),
    ],
)
def test_the_lead_of_a_fault_in_a_server(kind: type[Server], first: str, tmp_path: Path) -> None:
    with session_of(kind, tmp_path) as session:
        prepare_load(session)
        failures = told(load_trial(session, 100.0, 1.0, DRAIN_S))
    causes = [line for line in failures[1:] if not re.fullmatch(UNFINISHED, line)]
    assert re.fullmatch(first, causes[0]), failures
    overflowed = rf"the accept queue overflowed {A} times \(its length is 8\)"
    assert (kind is AcceptsNoMore) == any(re.fullmatch(overflowed, line) for line in failures)
