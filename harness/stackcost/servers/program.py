"""A server that is an HTTP program on the kernel's stack."""

from abc import abstractmethod
from typing import Any, Self

from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import Server, ServerSettings
from stackcost.host.program import Program
from stackcost.servers.probe import (
    Response,
    ask,
    ensure_port_free,
    fit_body,
    healthy,
    is_up,
    statuses,
)

STOP_TIMEOUT_S = 5.0


class HttpProgram(Server):
    """The common part of most servers; the user's own server can derive from it.

    `endpoint`: where it runs. `settings`: how it is set up. `log`: its output, in its folder.
    `body_bytes`: length of the body to serve. For profiles it is found at start, where it is
    started with several, until the whole response has the length that is asked for. For HTTP
    clients it is that of the shortest of `settings.files`, and a program that answers every path
    with one body is right if there is no other length.
    """

    not_counted = ""

    def __init__(self, endpoint: Endpoint, settings: ServerSettings):
        self.endpoint = endpoint
        self.settings = settings
        self.body_bytes = min(settings.files.values(), default=settings.response_bytes)
        self.log = endpoint.folder / "error.log"
        self._program = Program(self.name, self.log)
        self._own_requests = 0

    @classmethod
    def make(cls, endpoint: Endpoint, settings: ServerSettings) -> Self:
        """As it is made by hand."""
        return cls(endpoint, settings)

    @abstractmethod
    def command(self) -> list[str]:
        """The program and its arguments. It stays in the foreground; its folder is current."""

    @abstractmethod
    def write_files(self) -> None:
        """Write its configuration and content into `endpoint.folder`, which exists."""

    def requests_counted(self) -> int | None:
        """Requests since start by its own count, all of them; None when it keeps none.

        Read it in a way that changes no TCP counter: see `stackcost.servers.probe.ask_socket`.
        """
        return None

    def as_program(self, body_bytes: int) -> list[str]:
        """As `begin` does it."""
        self.body_bytes = body_bytes
        self.write_files()
        return self.command()

    @property
    def workers(self) -> int:
        """The experiment's number of workers, or one for each core."""
        return self.settings.program.workers or len(self.endpoint.cpus)

    def start(self) -> None:
        """Start it and wait until it answers; StackcostError with its own words if it does not."""
        try:
            if self.settings.files:
                self.begin()
                self._check_paths()
            else:
                fit_body(self.settings.response_bytes, self._serve)
            self.check_health()
        except BaseException:
            self.stop()
            raise

    def check_health(self) -> None:
        """One request must bring the whole response, or the whole of the shortest file."""
        if self.settings.files:
            self._check_file(min(self.settings.files.values()), self._ask())
            return
        length = self.response_length()
        if length != self.settings.response_bytes:
            raise StackcostError(
                f"{self.name} sent {length} bytes instead of {self.settings.response_bytes}",
                f"see {self.log}",
            )

    def response_length(self) -> int:
        """Bytes of headers and body in answer to the load's request, from a real one."""
        return self._ask().length

    def requests_served(self) -> int | None:
        """Requests since start by its own count, without those made here."""
        try:
            counted = self.requests_counted()
        except (TimeoutError, ConnectionError):  # it is overwhelmed, or out of descriptors
            return None
        return None if counted is None else counted - self._own_requests

    def sampled_statuses(self) -> dict[str, int] | None:
        """By requests of its own namespace."""
        return statuses(self._asked)

    def processes(self) -> dict[str, int]:
        """The started process; a server with more processes adds them."""
        number = self._program.process_id
        return {"worker-0": number} if number is not None and self._program.runs else {}

    def describe(self) -> dict[str, Any]:
        """The command; a server adds its version and configuration."""
        return {
            "name": self.name,
            "command": self.command(),
            "cpus": list(self.endpoint.cpus),
            "workers": self.workers,
        }

    def stop(self) -> None:
        """End it; configuration and log stay in the folder."""
        self._program.end(STOP_TIMEOUT_S)
        self._own_requests = 0

    def begin(self) -> None:
        """Write its files, start it once, and wait until it answers 200."""
        where = self.endpoint
        where.folder.mkdir(parents=True, exist_ok=True)
        ensure_port_free(where.namespace, where.address, where.port)
        self.write_files()
        self._program.start(where.run, self.command(), cwd=where.folder)
        if not self._program.wait_until_up(self._answers):
            raise self._start_error()

    def _start_error(self) -> StackcostError:
        """Why it did not start, with the end of its output."""
        return self._program.start_error()

    def _check_paths(self) -> None:
        """The second shortest file, if there is one: a program may not look at the path."""
        shortest, *others = sorted(self.settings.files, key=lambda path: self.settings.files[path])
        for path in others[:1]:
            request = self.settings.request.replace(shortest.encode(), path.encode(), 1)
            self._check_file(self.settings.files[path], self._ask(request))

    def _check_file(self, wanted: int, response: Response) -> None:
        """StackcostError unless it has a body of so many bytes."""
        if (seen := len(response.body)) == wanted:
            return
        change = (
            "it must serve a body of self.body_bytes bytes"
            if len(self.settings.files) == 1
            else "it must serve a body for each path of self.settings.files, which has the "
            "lengths; or give all tests the same body_bytes"
        )
        raise StackcostError(
            f"{self.name} sent a body of {seen} bytes instead of {wanted}, which a test of `http` "
            "asks for",
            f"{change}: docs/adding-a-server.md",
        )

    def _serve(self, body_bytes: int) -> int:
        self.stop()
        self.body_bytes = body_bytes
        self.begin()
        return self.response_length()

    def _ask(self, request: bytes = b"") -> Response:
        """The answer to a request, by default to the load's; StackcostError unless it is good."""
        return healthy(self._asked(request), self.name, self.log)

    def _asked(self, request: bytes = b"") -> Response:
        where, request = self.endpoint, request or self.settings.request
        tls = where.port in (self.settings.tls_port, self.settings.resumption_port)
        response = ask(where.namespace, where.address, where.port, request, tls)
        self._own_requests += 1
        return response

    def _answers(self) -> bool:
        """Whether it answers a request; StackcostError if the status is not 200."""
        return is_up(self._ask)
