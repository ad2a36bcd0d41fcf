"""Multipath TCP (RFC 8684) of the kernel, under programs that know nothing of it.

A library that is loaded first opens their sockets of TCP as sockets of MPTCP. Clients have a second
address, from which the kernel joins a second subflow to each connection. The kernel falls back to
TCP where the other side does not answer in MPTCP, so each trial checks its own counters.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from typing_extensions import override

from stackcost.contracts.addresses import LOAD_ADDRESS
from stackcost.contracts.counts import NOT_SEEN, StackCheck
from stackcost.contracts.placement import Placement
from stackcost.contracts.stack import KERNEL, When
from stackcost.host.compiler import compile_library
from stackcost.host.kernel_stack import Kernel
from stackcost.host.kernel_tables import counter_table
from stackcost.host.namespace import execute

NAME = "mptcp"
SOURCE = Path(__file__).parent / "mptcp_sockets.c"
# Of the kernel (net/mptcp/mib.h), by side: connections whose other side answered in MPTCP, those
# that went on as TCP, and second subflows that were joined.
CLIENT = ("MPCapableSYNACKRX", "MPCapableFallbackSYNACK", "MPJoinSynAckRx")
SERVER = ("MPCapableACKRX", "MPCapableFallbackACK", "MPJoinAckRx")


class Mptcp(Kernel):
    """MPTCP at one place: of a server, or of clients, who join a second subflow."""

    name = NAME

    def __init__(self, placement: Placement):
        super().__init__(placement)
        self._seen: dict[When, dict[str, int]] = {}
        self._library: IO[bytes] | None = None

    @override
    def prepare(self) -> None:
        """The library; and the second address of clients, which their link has anyway."""
        self.placement.folder.mkdir(parents=True, exist_ok=True)
        library = self.placement.folder / "mptcp.so"
        compile_library(SOURCE, library)
        self._library = library.open("rb")
        if self.placement.listens is None:
            self._endpoints("add", LOAD_ADDRESS, "dev", self.placement.interface, "subflow")

    @override
    def run(
        self, command: Sequence[str], cpus: Sequence[int] = (), **options: Any
    ) -> subprocess.Popen[Any]:
        assert self._library is not None  # prepared
        environment = dict(options.pop("env", None) or os.environ)
        # Its own path may have a space or a colon, which end a path in LD_PRELOAD (ld.so(8)), and
        # programs of another user, as HTTP clients are, may not read descriptors of this process.
        number = self._library.fileno()
        environment["LD_PRELOAD"] = f"/proc/self/fd/{number}"
        return super().run(command, cpus, env=environment, pass_fds=[number], **options)

    @override
    def check_stack(self, when: When, processes: Mapping[str, int]) -> None:
        """Read the kernel's counters."""
        if when == "before":
            self._seen = {}
        said = execute(self.placement.namespace, ["cat", "/proc/net/netstat"])
        table = counter_table(said, "MPTcpExt")
        names = SERVER if self.placement.listens else CLIENT
        self._seen[when] = {name: table[name] for name in names}

    @override
    def stack_check(self, idle: bool = False) -> StackCheck:
        """MPTCP if the other side answered in it each time, and second subflows were joined."""
        first, last = self._seen.get("before", {}), self._seen.get("after", {})
        grown = {name: value - first.get(name, 0) for name, value in last.items()}
        if idle and first:
            return StackCheck(self.name, self.name)
        answered, fell_back, joined = [*grown.values()] or (0, 0, 0)
        carried, why = self.name, ""
        if fell_back:
            carried, why = KERNEL, f"{fell_back:,} connections fell back to TCP"
        elif not answered:
            carried, why = NOT_SEEN, "the kernel counted no connection of MPTCP"
        elif not joined:
            carried, why = NOT_SEEN, "no connection got a second subflow"
        return StackCheck(self.name, carried, why, dict(grown))

    @override
    def release(self) -> None:
        """Without the second address."""
        if self._library:
            self._library.close()
            self._library = None
        if self.placement.listens is None:
            self._endpoints("flush")

    @override
    def describe(self) -> dict[str, Any]:
        """With the address of second subflows."""
        joins = None if self.placement.listens else LOAD_ADDRESS
        return {"name": self.name, "second_address": joins}

    def _endpoints(self, *words: str) -> None:
        execute(self.placement.namespace, ["ip", "mptcp", "endpoint", *words])
