"""HAProxy as a proxy between clients and a farm of nginx with one worker each.

The farm runs on the load's cores, as in the cookbook, where clients and web servers shared one
machine. So the server's cores do only the work of HAProxy, and of the kernel for both its sides.
"""

import csv
import re
import resource
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from typing_extensions import override

from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.http import HttpVersion
from stackcost.contracts.server import ServerSettings
from stackcost.host.cores import CpuPlace, place_of
from stackcost.host.namespace import find_program
from stackcost.host.program import Program
from stackcost.servers.backend import NginxBackend
from stackcost.servers.certificate import make_certificate
from stackcost.servers.nginx_status import find_build
from stackcost.servers.probe import ask_socket
from stackcost.servers.program import STOP_TIMEOUT_S
from stackcost.servers.template import render_template
from stackcost.servers.with_backend import WithBackend

HERE = Path(__file__).parent
FIRST_BACKEND_PORT = 1050
NO_HTTP3 = "the configuration of HAProxy here does not listen for HTTP/3, though HAProxy could"
FEWEST_BACKENDS = 2  # with one backend there is nothing to balance


def instances(
    workers: int, cpus: Sequence[int], place: Callable[[int], CpuPlace] = place_of
) -> list[list[int]]:
    """The CPU of each worker, by process: one process for each NUMA node, as in the cookbook.

    Workers go to the nodes in turn, and a process without a worker is not started.
    """
    nodes: dict[int, list[int]] = {}
    for cpu in cpus:
        nodes.setdefault(place(cpu).node, []).append(cpu)
    used = list(nodes.values())[:workers]
    return [
        [own[at % len(own)] for at in range(len(range(number, workers, len(used))))]
        for number, own in enumerate(used)
    ]


class HAProxyFarm(WithBackend):
    """A process for each NUMA node, with a thread for each worker, before a farm of nginx.

    All processes listen at the same address (SO_REUSEPORT); the kernel divides connections.
    """

    name = "haproxy/kernel"
    backend_kind = "backends"

    def __init__(self, endpoint: Endpoint, settings: ServerSettings):
        super().__init__(endpoint, settings)
        self._instances = instances(self.workers, endpoint.cpus)
        self._others = [  # beside the first one, which is every server's own program
            Program(f"{self.name} {at}", endpoint.folder / f"error-{at}.log")
            for at in range(1, len(self._instances))
        ]
        farm = settings.haproxy.backends or max(FEWEST_BACKENDS, self.workers)
        self._backends = [self._backend(FIRST_BACKEND_PORT + at) for at in range(farm)]

    @classmethod
    def lacks_version(cls, version: HttpVersion) -> str:
        """By the features that the installed HAProxy was built with, and by the configuration here.

        HTTP/2 is in all of them.
        """
        if version != "3":
            return ""
        said = subprocess.run(
            [find_program("haproxy"), "-vv"], capture_output=True, text=True
        ).stdout
        return (
            NO_HTTP3 if "+QUIC" in said else "HAProxy is built without QUIC (haproxy -vv has -QUIC)"
        )

    @classmethod
    @override
    def lacks_resumption(cls) -> str:
        return ""

    @override
    def as_program(self, body_bytes: int) -> list[str]:
        path = self.settings.request.split()[1].decode()
        for backend in self._backends:
            backend.files = {f"{path}index.html" if path.endswith("/") else path: body_bytes}
        return super().as_program(body_bytes)

    @override
    def backends_as_programs(self) -> list[NginxBackend]:
        return self._backends

    @override
    def start_backend(self) -> None:
        for backend in self._backends:
            backend.start()

    def depends_on(self) -> dict[str, int]:
        """Each nginx of the farm."""
        return {
            backend.folder.name: backend.process_id
            for backend in self._backends
            if backend.process_id
        }

    def command(self) -> list[str]:
        """In the foreground, without a master process."""
        return self._command(0)

    def begin(self) -> None:
        """Start every process, and wait until each has its own socket."""
        super().begin()
        for at, program in enumerate(self._others, 1):
            program.start(self.endpoint.run, self._command(at), cwd=self.endpoint.folder)
            if not program.wait_until_up(partial(self._is_up, at)):
                raise program.start_error()

    def processes(self) -> dict[str, int]:
        """One for each NUMA node."""
        found = super().processes()
        for at, program in enumerate(self._others, 1):
            if program.process_id is not None and program.runs:
                found[f"worker-{at}"] = program.process_id
        return found

    def write_files(self) -> None:
        """Write its configurations, and its certificate for TLS; the farm has the content."""
        if self.settings.tls_port:
            where, kind = self.endpoint, self.settings.program.certificate
            make_certificate(where.folder, where.address, kind)
        for at in range(len(self._instances)):
            self._socket(at).unlink(missing_ok=True)
            (self.endpoint.folder / f"haproxy-{at}.cfg").write_text(self._configuration(at))

    def requests_counted(self) -> int | None:
        """Responses with status 2xx of the backend, from the UNIX socket: no TCP counter changes.

        A frontend of TCP counts none. req_tot is not used: it also counts connections without a
        request; wrk opens one at start.
        """
        return sum(self._counted(at) for at in range(len(self._instances)))

    def describe(self) -> dict[str, Any]:
        """With version, configuration and the farm."""
        said = subprocess.run([self.command()[0], "-v"], capture_output=True, text=True).stdout
        version = re.search(r"version (\S+)", said)
        return super().describe() | {
            "version": version[1] if version else None,
            "configuration": self._configuration(0),
            "processes_on_cpus": self._instances,
            "backends": len(self._backends),
            "backends_on_cpus": list(self.upstream.cpus),
            "backend_configuration": self._backends[0].configuration,
            "workers_are": "threads; HAProxy 2.5 removed nbproc",
        }

    def stop(self) -> None:
        """End HAProxy, then the farm."""
        for program in self._others:
            program.end(STOP_TIMEOUT_S)
        super().stop()
        for backend in self._backends:
            backend.stop()

    def _backend(self, port: int) -> NginxBackend:
        connections = self.settings.program.worker_connections
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        text = render_template(
            HERE / "backend.conf.j2",
            address=self.upstream.address,
            port=port,
            connections=connections,
            files=2 * connections if most == resource.RLIM_INFINITY else most,
            proxying_modules=find_build().proxying_modules,
        )
        folder = self.endpoint.folder / f"backend-{port}"
        return NginxBackend(self.upstream, folder, text, port, self.settings.files)

    def _tls(self) -> dict[int, str]:
        """Options by port. Without tickets and without a cache every handshake is a full one."""
        http2 = "alpn h2,http/1.1" if "2" in self.settings.http_versions else ""
        ports = {
            self.settings.tls_port: f"no-tls-tickets {http2}".strip(),
            self.settings.resumption_port: http2,
        }
        return {port: options for port, options in ports.items() if port}

    def _command(self, at: int) -> list[str]:
        return [find_program("haproxy"), "-db", "-f", f"haproxy-{at}.cfg"]

    def _socket(self, at: int) -> Path:
        return self.endpoint.folder / f"admin-{at}.sock"

    def _is_up(self, at: int) -> bool:
        try:
            return bool(ask_socket(self._socket(at), b"show info\n"))
        except OSError:
            return False

    def _counted(self, at: int) -> int:
        text = ask_socket(self._socket(at), b"show stat\n").decode()
        rows = csv.DictReader(text.removeprefix("# ").splitlines())
        farm = next(row for row in rows if (row["pxname"], row["svname"]) == ("farm", "BACKEND"))
        return int(farm["hrsp_2xx"])

    def _configuration(self, at: int) -> str:
        cpus = self._instances[at]
        # HAProxy refuses descriptors from twice this number on (Maxsock of `show info`), also where
        # most of them are of closed sockets that its stack keeps.
        kept = -(-self.endpoint.stack.kept_sockets // 2)
        return render_template(
            HERE / "haproxy.cfg.j2",
            room=self.settings.program.worker_connections * len(cpus) + kept,
            workers=len(cpus),
            cpus=cpus,
            socket=self._socket(at).name,
            address=self.endpoint.address,
            port=self.endpoint.port,
            upstream=self.upstream.address,
            tls=self._tls(),
            backends=[FIRST_BACKEND_PORT + at for at in range(len(self._backends))],
        )
