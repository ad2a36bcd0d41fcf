"""A user at TRex's own console: commands typed one after the other, and what it prints to each."""

import os
import re
import select
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackcost.trex.astf_server import AstfServer
from tests.trex.conftest import REPOSITORY

PROMPT = re.compile(r"trex(\([a-z-]+\))?>$")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
TIMEOUT_S = 30.0


class Console:
    """A console process that is connected to `engine`."""

    def __init__(self, engine: AstfServer) -> None:
        config = engine.config
        server = ["-s", "127.0.0.1", "-p", str(config.rpc_port)]
        self.process = subprocess.Popen(
            [
                REPOSITORY / "script" / "trex-console",
                *server,
                "--async_port",
                str(config.async_port),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
        )
        self.greeting = self._printed()

    def say(self, command: str) -> str:
        """What it prints until its next prompt."""
        assert self.process.stdin is not None
        self.process.stdin.write(command.encode() + b"\n")
        return self._printed()

    def shows(self, command: str, *words: str) -> str:
        printed = self.say(command)
        for word in words:
            assert word in printed, f"{command}: no {word!r} in\n{printed}"
        return printed

    def comes_to_show(self, command: str, *words: str) -> None:
        """Events reach the console when they do, and a counter is shown once it has counted."""
        end = time.monotonic() + TIMEOUT_S
        while missing := [word for word in words if word not in (printed := self.say(command))]:
            assert time.monotonic() < end, f"{command}: no {missing} in\n{printed}"
            time.sleep(0.1)

    def end(self) -> int:
        assert self.process.stdin is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()  # as Ctrl-D does
        try:
            return self.process.wait(TIMEOUT_S)
        finally:
            self.process.kill()

    def _printed(self) -> str:
        assert self.process.stdout is not None
        printed = b""
        end = time.monotonic() + TIMEOUT_S
        while not PROMPT.search(text := COLOURS.sub("", printed.decode(errors="replace"))):
            ready, _, _ = select.select([self.process.stdout], [], [], end - time.monotonic())
            assert ready, f"no prompt after {TIMEOUT_S} s:\n{text}"
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            assert more, f"it ended:\n{text}"
            printed += more
        return text


@pytest.fixture
def console(engine: AstfServer) -> Iterator[Console]:
    console = Console(engine)
    yield console
    console.end()


def test_ports(console: Console) -> None:
    assert "Server version:   v3.08 (astf-engine) @ ASTF" in console.greeting
    assert (
        "Acquiring ports [0, 1]:                                      [SUCCESS]" in console.greeting
    )
    console.shows("ping -p 0 -d 10.0.0.2", "does not have a valid IPv4 address")
    console.shows("service", "Enabling service mode on port(s): [0, 1]")
    console.shows("l3 -p 1 --src 10.0.0.2 --dst 10.0.0.1", "Could not resolve following ports: [1]")
    console.shows("l3 -p 0 --src 10.0.0.1 --dst 10.0.0.2", "Recieved ARP reply from: 10.0.0.2")
    console.shows("arp", "Port 0 - Recieved ARP reply", "Port 1 - Recieved ARP reply")
    console.shows("ping -p 0 -d 10.0.0.2 -n 1", "Reply from 10.0.0.2: bytes=64")
    console.shows("ipv6 -p 0 --auto", "[SUCCESS]")
    console.shows("ipv6 -p 1 --src 2001:db8::2", "[SUCCESS]")
    console.shows("scan6 -p 0 -t 1", "fe80::", "Host")
    console.shows("ping -p 0 -d 2001:db8::2 -n 1", "Reply from 2001:db8::2: bytes=64")
    console.shows("vlan -p 0 1 --vlan 30", "[SUCCESS]")
    console.shows("portattr", "2001:db8::2", "10.0.0.1", "IPv4", "30", "every 120 seconds")
    console.shows("vlan -p 0 1 --vlan 100 30", "[SUCCESS]")
    console.shows("portattr", "100/30 (QinQ)")
    console.shows("vlan -p 0 1 -c", "[SUCCESS]")
    console.shows("map", "port 0 <--> port 1")
    console.shows("portattr -p 0 --prom on", "[SUCCESS]")
    for port in (0, 1):
        console.shows(f"ipv6 -p {port} --off", "[SUCCESS]")
        console.shows(f"l2 -p {port} --dst 02:00:00:00:00:0{1 - port}", "[SUCCESS]")
    console.shows("service --off", "Disabling service mode on port(s): [0, 1]")
    assert console.end() == 0


def test_captures(console: Console, tmp_path: Path) -> None:
    console.shows("service", "[SUCCESS]")
    started = console.shows("capture record start --rx 1 --tx 0 -f udp", "Capturing ID is set to")
    number = re.findall(r"set to '(\d+)'", started)[0]
    console.shows("capture monitor start --rx 1 -f udp", "Starting stdout capture monitor")
    packet = "Ether()/IP(src='1.1.1.1',dst='2.2.2.2')/UDP(sport=7,dport=9)/('x'*20)"
    console.shows(f"pkt -p 0 -s {packet}", "Pushing 1 packets on port(s) [0]")
    console.comes_to_show("capture", "[2/1000]")  # where it left and where it arrived
    console.shows("capture monitor stop", "Stopping capture monitor")
    file = tmp_path / "record.pcap"
    console.shows(f"capture record stop -i {number} -o {file}", "Writing up to 2 packets")
    assert file.stat().st_size == 24 + 2 * (16 + 62)
    console.shows("capture record start --rx 1 -f nonsense", "is not a valid pattern")
    console.shows("service --off", "[SUCCESS]")
    assert console.end() == 0


def test_traffic(console: Console, profile: Path) -> None:
    console.shows(f"start -f {profile} -m 20", "Starting traffic.", "[SUCCESS]")
    console.comes_to_show("stats -p", "TRANSMITTING")
    console.comes_to_show("profiles", "STATE_TX")
    console.shows(f"start -f {profile}", "Transmitting")  # refused, in the state's name
    console.shows("update -m 30", "Updating traffic.", "[SUCCESS]")
    console.shows("stats -p", "opackets", "ipackets")
    console.comes_to_show("stats -a", "tcps_connattempt", "tcps_accepts")
    console.shows("stats -m", "Mbuf Util", "192b", "RAM(MB)")
    console.shows("stats -x", "Xstats")
    console.shows("template_group names", "There are no template groups!")
    console.shows("latency start -m 100 --src 16.0.0.1 --dst 48.0.0.1", "[SUCCESS]")
    console.shows("stats -l", "Latency Statistics")
    console.shows("latency stop", "[SUCCESS]")
    console.shows("stop", "Stopping traffic.", "[SUCCESS]")
    console.comes_to_show("profiles", "STATE_ASTF_LOADED")
    console.shows("clear", "[SUCCESS]")
    console.shows("streams", "No streams found")
    console.shows("events", "Moved to state: Transmitting")
    console.shows("reset", "[SUCCESS]")
    console.shows("disconnect", "[SUCCESS]")
    console.shows("stats", "cannot be executed in offline mode")
    console.shows("connect", "Connecting to RPC server", "[SUCCESS]")
    assert console.end() == 0
