"""HAProxy as a proxy between clients and a farm of nginx with one worker each.

The farm runs on the load's cores, as in the cookbook, where clients and web servers shared one
machine. So the server's cores do only the work of HAProxy, and of the kernel for both its sides.
"""

import csv
import re
import resource
import subprocess
from pathlib import Path
from typing import Any

from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.http import HttpVersion
from stackcost.contracts.server import ServerSettings
from stackcost.host.namespace import find_program
from stackcost.servers.backend import NginxBackend
from stackcost.servers.certificate import make_certificate
from stackcost.servers.front import HttpFront
from stackcost.servers.nginx_kernel.configuration import find_build
from stackcost.servers.probe import ask_socket
from stackcost.servers.template import render_template

HERE = Path(__file__).parent
FIRST_BACKEND_PORT = 1050
FEWEST_BACKENDS = 2  # with one backend there is nothing to balance


class HAProxyFarm(HttpFront):
    """One process with a thread for each worker, and as many backends as workers, at least two."""

    name = "haproxy/kernel"
    behind = "backends"

    def __init__(self, endpoint: Endpoint, settings: ServerSettings):
        super().__init__(endpoint, settings)
        self._backends = [
            self._backend(FIRST_BACKEND_PORT + at)
            for at in range(max(FEWEST_BACKENDS, self.workers))
        ]

    @classmethod
    def lacks_version(cls, version: HttpVersion) -> str:
        """By the features that the installed HAProxy was built with; HTTP/2 is in all of them."""
        if version != "3":
            return ""
        said = subprocess.run(
            [find_program("haproxy"), "-vv"], capture_output=True, text=True
        ).stdout
        return "" if "+QUIC" in said else "HAProxy is built without QUIC (haproxy -vv has -QUIC)"

    @classmethod
    def lacks_resumption(cls) -> str:
        """Nothing."""
        return ""

    def start_behind(self) -> None:
        """The farm."""
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
        return [find_program("haproxy"), "-db", "-f", "haproxy.cfg"]

    def write_files(self) -> None:
        """Write its configuration, and its certificate for TLS; the farm has the content."""
        if self.settings.tls_port:
            make_certificate(self.endpoint.folder, self.endpoint.address, self.settings.certificate)
        (self.endpoint.folder / "haproxy.cfg").write_text(self._configuration())

    def requests_counted(self) -> int | None:
        """Responses with status 2xx of the frontend, from the UNIX socket: no TCP counter changes.

        req_tot is not used: it also counts connections without a request; wrk opens one at start.
        """
        text = ask_socket(self.endpoint.folder / "admin.sock", b"show stat\n").decode()
        rows = csv.DictReader(text.removeprefix("# ").splitlines())
        return next(int(row["hrsp_2xx"]) for row in rows if row["pxname"] == "web")

    def describe(self) -> dict[str, Any]:
        """With version, configuration and the farm."""
        said = subprocess.run([self.command()[0], "-v"], capture_output=True, text=True).stdout
        version = re.search(r"version (\S+)", said)
        return super().describe() | {
            "version": version[1] if version else None,
            "configuration": self._configuration(),
            "backends": len(self._backends),
            "backends_on_cpus": list(self.upstream.cpus),
            "backend_configuration": self._backends[0].configuration,
            "workers_are": "threads of one process; HAProxy 2.5 removed nbproc",
        }

    def stop(self) -> None:
        """End HAProxy, then the farm."""
        super().stop()
        for backend in self._backends:
            backend.stop()

    def _backend(self, port: int) -> NginxBackend:
        connections = self.settings.worker_connections
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

    def _configuration(self) -> str:
        cpus = self.endpoint.cpus
        return render_template(
            HERE / "haproxy.cfg.j2",
            room=self.settings.worker_connections * self.workers,
            workers=self.workers,
            cpus=[cpus[at % len(cpus)] for at in range(self.workers)],
            address=self.endpoint.address,
            port=self.endpoint.port,
            upstream=self.upstream.address,
            tls=self._tls(),
            backends=[FIRST_BACKEND_PORT + at for at in range(len(self._backends))],
        )
