"""A proxy as a device: it ends each client's connection and opens its own to the server behind it.

Both of its sides, TCP in the kernel included, are its cost. Where the server behind it runs says
`dut.server_on`. A proxy of TCP passes TLS on as it is, or ends it.
"""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import psutil

from stackcost.contracts.addresses import BACKEND_ADDRESS
from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import ServerSettings
from stackcost.contracts.wiring import DUT_CLIENT_INTERFACE, Wiring
from stackcost.duts.base import Dut, make_backend
from stackcost.host.namespace import spawner
from stackcost.host.program import Program
from stackcost.servers.certificate import make_certificate
from stackcost.servers.probe import (
    Response,
    ask,
    ensure_port_free,
    fit_body,
    healthy,
    is_up,
    listens,
)

STOP_TIMEOUT_S = 5.0
# A connection that a proxy has closed keeps its local port for 60 s in TIME_WAIT, and there is one
# address to connect from. With the kernel's defaults the ports would be used up at about 470
# connections per second (ip(7), ip_local_port_range; Documentation/networking/ip-sysctl.rst).
SYSCTLS = {"net.ipv4.ip_local_port_range": "1024 65535", "net.ipv4.tcp_tw_reuse": "1"}


class Proxy(Dut):
    """A proxy at the clients' address. A kind gives `command` and `write_files`.

    `log`: the output of its program, in its folder. The program's folder is its current one.
    `takes_engine`: whether the generator can be the server behind it: it sends on what it receives,
    byte for byte, to BACKEND_ADDRESS. `ends_tls`: whether it ends clients' TLS. It then has a
    certificate, and TLS of its own to the server behind it if `server_tls`.
    """

    ip_versions = (4,)
    passes_every_port = False
    takes_tls = False
    passes_frames = False
    backend_at: ClassVar[str] = BACKEND_ADDRESS
    takes_engine: ClassVar[bool] = False
    ends_tls: ClassVar[bool] = False

    def __init__(self, endpoint: Endpoint, settings: ServerSettings):
        super().__init__(endpoint, settings)
        self.log = endpoint.folder / "error.log"
        self._program = Program(self.name, self.log)

    @abstractmethod
    def command(self) -> list[str]:
        """The program and its arguments; it stays in the foreground."""

    @abstractmethod
    def write_files(self) -> None:
        """Write its configuration into `endpoint.folder`, which exists."""

    @abstractmethod
    def configuration(self) -> str:
        """The text of its configuration."""

    @classmethod
    def wiring_for(cls, settings: ServerSettings) -> Wiring:
        """The wiring of a router; StackcostError if it cannot work with the experiment's server."""
        with_nginx = "set dut.server: nginx in the experiment, or --server nginx"
        if settings.dut.server == "engine" and not cls.takes_engine:
            raise StackcostError(
                f"{cls.name} needs a server behind it on the kernel's stack, and the generator's "
                "own server port has none",
                with_nginx,
            )
        if cls.ends_tls and settings.tls is None:
            raise StackcostError(
                f"{cls.name} ends TLS, and the load has none",
                "set load.tls: {} in the experiment, or --tls",
            )
        if cls.ends_tls and settings.dut.server == "engine" and not settings.dut.server_tls:
            raise StackcostError(
                "the generator's server port has TLS where its clients have it, so dut.server_tls "
                "cannot be false",
                with_nginx,
            )
        return super().wiring_for(settings)

    @property
    def server_tls(self) -> bool:
        """Whether it opens TLS to the server behind it."""
        return self.ends_tls and self.settings.dut.server_tls

    def template_values(self) -> dict[str, Any]:
        """What templates of configurations have in common: clients' side, server's side, TLS."""
        return {
            "address": self.endpoint.address,
            "port": self.endpoint.port,
            "upstream": self.backend_at,
            "ends_tls": self.ends_tls,
            "server_tls": self.server_tls,
            "tickets": self.tickets,
        }

    @property
    def tickets(self) -> bool:
        """Whether both of its sides resume TLS sessions; else every handshake is in full."""
        return self.settings.tls is not None and self.settings.tls.resumption

    @property
    def workers(self) -> int:
        """The experiment's number of workers, or one for each core."""
        return self.settings.program.workers or len(self.endpoint.cpus)

    @property
    def room(self) -> int:
        """Clients' connections that it must be able to hold, over all workers."""
        return self.settings.program.worker_connections * self.workers

    def start(self) -> None:
        """Start the server behind it, then itself; StackcostError with its output if it fails.

        A proxy of HTTP changes the headers. So the server's response gets the length with which the
        clients receive what the experiment asks for. The generator, as the server, is not there
        yet: then its trials are the first to show that it passes anything.
        """
        try:
            self.configure()
            if self.wired.server:
                fit_body(self.settings.response_bytes, self._serve)
            else:
                self._begin()
        except BaseException:
            self.stop()
            raise

    def configure(self) -> None:
        """Set addresses and routes of both sides, the address for clients, and sysctls."""
        super().configure()
        self.take_clients()
        for name, value in SYSCTLS.items():
            self.set_sysctl(name, value)

    def take_clients(self) -> None:
        """Have clients' connections come to it: its interface gets the address they ask for."""
        self.ip(f"address replace {self.endpoint.address}/32 dev {DUT_CLIENT_INTERFACE}")

    def check_health(self) -> None:
        """One request through it must bring the whole response."""
        length = self.response_length()
        if length != self.settings.response_bytes:
            raise StackcostError(
                f"{self.name} sent {length} bytes instead of {self.settings.response_bytes}",
                f"see {self.log}",
            )

    def response_length(self) -> int:
        """Bytes as probed through it; of the generator's server, as the experiment sets it."""
        return self._ask().length if self.wired.server else self.settings.response_bytes

    def processes(self) -> dict[str, int]:
        """Its program with all children, and the threads that poll its interfaces."""
        number = self._program.process_id
        if number is None or not self._program.runs:
            return super().processes()
        children = sorted(child.pid for child in psutil.Process(number).children(recursive=True))
        own = {"proxy": number} | {f"proxy-{at}": pid for at, pid in enumerate(children)}
        return super().processes() | own

    def describe(self) -> dict[str, Any]:
        """The description of a device, with its command, configuration and sysctls."""
        return super().describe() | {
            "command": self.command(),
            "configuration": self.configuration(),
            "workers": self.workers,
            "certificate": self.settings.program.certificate if self.ends_tls else None,
            "sysctls": SYSCTLS,
        }

    def stop(self) -> None:
        """End it, then the server behind it."""
        self._program.end(STOP_TIMEOUT_S)
        super().stop()

    def _serve(self, backend_bytes: int) -> int:
        """Start both with a response of so many bytes from the server; returns the clients'."""
        self.stop()
        settings = replace(self.settings, response_bytes=backend_bytes)
        if self.ends_tls and not self.server_tls:
            settings = replace(settings, tls=None, tls_port=None, resumption_port=None)
        self.backend = make_backend(self.endpoint, settings, self.backend_at)
        self.backend.start()
        self._begin()
        return self.response_length()

    def _begin(self) -> None:
        where = self.endpoint
        where.folder.mkdir(parents=True, exist_ok=True)
        ensure_port_free(where.namespace, where.address, where.port)
        if self.ends_tls:
            make_certificate(where.folder, where.address, self.settings.program.certificate)
        self.write_files()
        spawn = spawner(where.namespace, where.cpus)
        self._program.start(spawn, self.command(), cwd=where.folder)
        if not self.wait_until_up():
            raise self._program.start_error()

    def wait_until_up(self) -> bool:
        """Wait until it answers; False if it ended before, or time ran out."""
        return self._program.wait_until_up(self._answers)

    def _ask(self) -> Response:
        where = self.endpoint
        request, tls = self.settings.request, self.settings.tls is not None
        response = ask(where.namespace, where.address, where.port, request, tls)
        return healthy(response, self.name, self.log)

    def _answers(self) -> bool:
        where = self.endpoint
        if self.wired.server:
            return is_up(self._ask)
        return listens(where.namespace, where.address, where.port)
