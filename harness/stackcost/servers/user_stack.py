"""A server with a TCP stack of its own in its process, on a packet socket of its interface."""

from typing import Any, Self

from stackcost.contracts.addresses import LOAD_ADDRESS, SERVER_ADDRESS
from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import ServerSettings
from stackcost.host.steering import poll_threads
from stackcost.servers.probe import Response, ask_as_load, ask_socket, is_up
from stackcost.servers.program import HttpProgram

COUNTER = "requests.sock"


class CountingProgram(HttpProgram):
    """A program of the suite's own: it answers every request with a body of `body_bytes` zeros.

    Its UNIX socket is there once it listens, and gives its number of requests.
    """

    def write_files(self) -> None:
        """Write nothing: there is no configuration; the socket of a start before is removed."""
        (self.endpoint.folder / COUNTER).unlink(missing_ok=True)

    def requests_counted(self) -> int | None:
        """From its UNIX socket."""
        return int(ask_socket(self.endpoint.folder / COUNTER, b""))


class UserStack(CountingProgram):
    """A program with a TCP stack of its own. It is started before the generator attaches: the
    kernel's stack there probes it.

    The kernel's receive work of a frame ends at the packet socket. A thread polls the interface for
    it, as for a server on the kernel's stack.
    """

    kernel_stack = False
    packet_socket = True

    def __init__(self, endpoint: Endpoint, settings: ServerSettings):
        super().__init__(endpoint, settings)
        self._length: int | None = None

    @classmethod
    def make(cls, endpoint: Endpoint, settings: ServerSettings) -> Self:
        """For a load on this machine: the body's length is found by requests from there."""
        if endpoint.neighbours:
            raise StackcostError(
                f"{cls.name} is asked from the load's namespace, and the load is on another host",
                "leave section bed out of the experiment, or this server",
            )
        return cls(endpoint, settings)

    def start(self) -> None:
        """Start it as other programs; the length is that of a response to the load's host."""
        super().start()
        self._length = super().response_length()

    def check_health(self) -> None:
        """Before the generator attaches by a request, later by its process."""
        if self._length is None:
            super().check_health()
        elif not self._program.runs:
            raise self._program.start_error()

    def response_length(self) -> int:
        """Bytes as at its start; nothing but the generator can ask it afterwards."""
        return super().response_length() if self._length is None else self._length

    def sampled_statuses(self) -> None:
        """None: nothing but the generator can ask it."""

    def processes(self) -> dict[str, int]:
        """The program, and the thread that polls its interface."""
        polls = poll_threads(self.endpoint.interface) if self._program.runs else ()
        polling = {f"receive-poll-{number}": thread for number, thread in enumerate(polls)}
        return super().processes() | polling

    def stop(self) -> None:
        """End it; the interface goes with the test bed."""
        super().stop()
        self._length = None

    @property
    def link(self) -> list[str]:
        """Arguments: its interface, its address there, and the gateway to the clients."""
        return [self.endpoint.interface, f"{SERVER_ADDRESS}/24", LOAD_ADDRESS]

    def describe(self) -> dict[str, Any]:
        """With what carries its connections."""
        return super().describe() | {"frames": "a packet socket on its interface"}

    def congestion_control(self) -> str:
        """Of the stack in the program; the default where its algorithm is not known."""
        return "its own stack's"

    def _ask(self, request: bytes = b"") -> Response:
        where, request = self.endpoint, request or self.settings.request
        response = ask_as_load(self.name, where.address, where.port, request)
        self._own_requests += 1
        return response

    def _answers(self) -> bool:
        """Nothing answers ARP before its stack is up, so its socket is looked for first."""
        return (self.endpoint.folder / COUNTER).exists() and is_up(self._ask)
