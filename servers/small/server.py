"""A small HTTP server of the suite's own, by epoll, by io_uring, on MPTCP; compiled when needed."""

from pathlib import Path
from typing import Any, ClassVar, Self

from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import ServerSettings
from stackcost.host import io_uring, mptcp
from stackcost.host.compiler import compile_program
from stackcost.host.napi import set_polls
from stackcost.servers.program import HttpProgram

SOURCE = Path(__file__).parent / "web.c"
LIBRARY = Path("/usr/include/liburing.h")
BACKLOG = 511  # as nginx
# Of the example in that section.
POLLS = {"defer_hard_irqs": 100, "gro_flush_timeout": 200_000, "irq_suspend_timeout": 20_000_000}


class SmallByEpoll(HttpProgram):
    """One thread for each worker, which waits by epoll. `how`: an argument of the program."""

    name = "small-epoll/kernel"
    how: ClassVar[str] = "epoll"

    @classmethod
    def lacks(cls) -> str:
        """The library that the one source needs in both ways."""
        if LIBRARY.exists():
            return ""
        return "liburing is not installed; apt-get install liburing-dev"

    def write_files(self) -> None:
        """The whole response, its counter of requests, and the program."""
        folder = self.endpoint.folder
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {self.body_bytes}\r\n\r\n"
        (folder / "answer").write_bytes(head.encode() + bytes(self.body_bytes))
        (folder / "requests").write_bytes(bytes(8))
        compile_program(SOURCE, folder / "web", ["uring"])

    def command(self) -> list[str]:
        """All its settings are in its arguments."""
        where = self.endpoint
        listens = [where.address, str(where.port)]
        backlog = self.settings.program.backlog or BACKLOG
        numbers = [str(self.workers), str(backlog)]
        program = str(where.folder / "web")
        return [program, self.how, *listens, "answer", "requests", *numbers]

    def requests_counted(self) -> int | None:
        """From the file that its workers map."""
        return int.from_bytes((self.endpoint.folder / "requests").read_bytes(), "little")

    def describe(self) -> dict[str, Any]:
        """With its source."""
        return super().describe() | {"source": SOURCE.read_text()}


class SmallOnMptcp(SmallByEpoll):
    """The small server by epoll, from a listener of MPTCP: clients may use it, or TCP."""

    name = "small-mptcp/kernel"
    how = "mptcp"

    @classmethod
    def lacks(cls) -> str:
        """The library, or MPTCP in this kernel."""
        return super().lacks() or mptcp.refused()


class SmallByBusyPolls(SmallByEpoll):
    """The small server by epoll, which polls the interface while there is work; the kernel's own
    polls are held back meanwhile (Documentation/networking/napi.rst, "IRQ suspension").
    """

    name = "small-busy/kernel"
    how = "busy"

    @classmethod
    def make(cls, endpoint: Endpoint, settings: ServerSettings) -> Self:
        """For an interface of this machine's bed, whose settings end with it."""
        if endpoint.neighbours:
            raise StackcostError(
                f"{cls.name} changes the polls of its interface for good, and it is a real one",
                "leave section bed out of the experiment, or this server",
            )
        return cls(endpoint, settings)

    def write_files(self) -> None:
        """And the settings of the interface's polls, before connections come."""
        super().write_files()
        set_polls(self.endpoint.namespace, self.endpoint.interface, POLLS)

    def describe(self) -> dict[str, Any]:
        """With these settings."""
        return super().describe() | {"polls": POLLS}


class SmallByUring(SmallByEpoll):
    """Accepts, receives and sends are entries of a ring; a call of the kernel takes all of them."""

    name = "small-uring/kernel"
    how = "uring"

    @classmethod
    def lacks(cls) -> str:
        """The library, or io_uring in this kernel."""
        return super().lacks() or io_uring.refused()


class SmallByUringZeroCopy(SmallByUring):
    """The small server by io_uring, with sends that the kernel does not copy."""

    name = "small-uring-zc/kernel"
    how = "uring-zc"
