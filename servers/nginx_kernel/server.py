"""nginx in its own namespace on the kernel's stack."""

import shutil
from pathlib import Path
from typing import Any

import psutil
from typing_extensions import override

from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.http import HttpVersion
from stackcost.contracts.server import ServerSettings
from stackcost.servers.certificate import make_certificate
from stackcost.servers.memory_files import with_memory_files
from stackcost.servers.nginx_status import (
    STATUS_SOCKET,
    Status,
    affinity_masks,
    find_build,
    read_status,
)
from stackcost.servers.program import HttpProgram
from stackcost.servers.template import render_template

TEMPLATE = Path(__file__).with_name("nginx.conf.j2")
SPARE_FILES = 200  # besides connections, nginx opens logs, sockets and served files

BOTH_VERSIONS = "TLSv1.2 TLSv1.3"  # for profiles, whose clients say which they want
# What Debian's nginx.conf has; a tuning may replace it.
USUAL = {"sendfile": "on", "tcp_nopush": "on", "keepalive_timeout": "75s"}
NO_HTTP3 = "the configuration of nginx here does not listen for HTTP/3, though nginx could"


class NginxKernel(HttpProgram):
    """nginx serving one body for every path, or files by their paths, from a tmpfs.

    A worker is bound to each core in turn. A TLS port of the settings may be the port of the
    endpoint, which then has TLS alone. Versions of TLS are nginx's own choice for HTTP clients,
    without 1.3 in nginx 1.22.
    """

    name = "nginx/kernel"
    takes_tls = True
    takes_reuseport = True

    def __init__(self, endpoint: Endpoint, settings: ServerSettings):
        super().__init__(endpoint, settings)
        self._build = find_build()
        self._tickets = {settings.tls_port: "off", settings.resumption_port: "on"}
        self._tickets.pop(None, None)

    @classmethod
    def lacks_version(cls, version: HttpVersion) -> str:
        """By the modules that the installed nginx was built with, and by the configuration here."""
        build, module = find_build(), f"http_v{version}_module"
        if version == "1.1" or f"--with-{module}" in build.configured:
            return NO_HTTP3 if version == "3" else ""
        return f"{build.version} is built without HTTP/{version} (nginx -V has no {module})"

    @classmethod
    @override
    def lacks_resumption(cls) -> str:
        return ""

    def begin(self) -> None:
        """Begin; StackcostError too if it may not open enough files."""
        super().begin()
        self._check_open_files()

    @override
    def command(self) -> list[str]:
        nginx = [self._build.path, "-p", ".", "-e", "stderr", "-c", "nginx.conf"]
        files = self.settings.files
        return with_memory_files("www", files, nginx) if files else nginx

    @override
    def write_files(self) -> None:
        folder = self.endpoint.folder
        (folder / "www").mkdir(parents=True, exist_ok=True)
        (folder / "temporary").mkdir(exist_ok=True)
        if not self.settings.files:
            (folder / "www" / "body").write_bytes(b"x" * self.body_bytes)
        if self._tickets:
            make_certificate(folder, self.endpoint.address, self.settings.program.certificate)
        (folder / "nginx.conf").write_text(self.configuration())

    def open_files(self) -> int:
        """Files and sockets all workers together may hold open, as the kernel granted it.

        What the tuning asks for may be refused: nginx then only writes an alert and goes on.
        """
        workers = [
            psutil.Process(pid) for role, pid in self.processes().items() if role != "master"
        ]
        return sum(worker.rlimit(psutil.RLIMIT_NOFILE)[0] for worker in workers)

    def status(self) -> Status:
        """nginx's counts as they are, our own requests included."""
        try:
            status = read_status(self.endpoint.folder)
        except TimeoutError:
            self._own_requests += 1  # it reads and counts what was sent when it comes to it
            raise
        self._own_requests += 1
        return status

    @override
    def requests_counted(self) -> int | None:
        return self.status().requests

    def refusals(self) -> dict[str, int] | None:
        """Connections that it accepted and closed at once, because its workers were full."""
        try:
            status = self.status()
        except TimeoutError:
            return None
        return {"worker_connections": status.accepted - status.handled}

    def processes(self) -> dict[str, int]:
        """The master and its workers, in the order they were started."""
        if not (started := super().processes()):
            return {}
        (master,) = started.values()
        workers = sorted(child.pid for child in psutil.Process(master).children())
        return {"master": master} | {f"worker-{at}": pid for at, pid in enumerate(workers)}

    def describe(self) -> dict[str, Any]:
        """With version, configuration and tuning."""
        program = self.settings.program
        return super().describe() | {
            "version": self._build.version,
            "worker_connections": program.worker_connections,
            "reuseport": program.reuseport,
            "body_bytes": self.body_bytes,
            "open_files": self.open_files(),
            "files": dict(self.settings.files),
            "certificate": program.certificate if self._tickets else None,
            "configuration": self.configuration(),
        }

    def stop(self) -> None:
        """End nginx; its configuration and log stay in the folder."""
        super().stop()
        for name in (STATUS_SOCKET, "nginx.pid"):
            (self.endpoint.folder / name).unlink(missing_ok=True)
        for name in ("temporary", "www"):
            shutil.rmtree(self.endpoint.folder / name, ignore_errors=True)

    def _check_open_files(self) -> None:
        open_flows = self.settings.open_flows
        granted, needed = self.open_files(), open_flows + SPARE_FILES
        if granted < needed:
            raise StackcostError(
                f"nginx may open {granted:,} files on this machine, but {open_flows:,} open "
                f"flows need {needed:,}",
                "raise the hard limit (ulimit -Hn), or lower memory.open_flows in the experiment",
            )

    def configuration(self) -> str:
        """The text of nginx.conf."""
        settings, where = self.settings, self.endpoint
        directives = settings.tier.directives()
        return render_template(
            TEMPLATE,
            proxying_modules=self._build.proxying_modules,
            workers=self.workers,
            affinity_masks=affinity_masks(self.workers, where.cpus),
            worker_connections=settings.program.worker_connections,
            directives={
                "main": directives.get("main", {}),
                "events": directives.get("events", {}),
                "http": USUAL | directives.get("http", {}),
            },
            address=where.address,
            listeners={where.port: ""} | self._tickets,
            protocols=BOTH_VERSIONS if settings.tls else "",
            http2="2" in settings.http_versions,
            reuseport=settings.program.reuseport,
            backlog=settings.program.backlog,
            files=settings.files,
        )

    def _answers(self) -> bool:
        """Check its status socket, which no other server can use."""
        try:
            self.status()
        except (OSError, ValueError):
            return False
        return True

    def _start_error(self) -> StackcostError:
        """Why it did not start: the [emerg] line of its output, or the general reason."""
        fatal = [line for line in self._program.output().splitlines() if "[emerg]" in line]
        if not fatal:
            return super()._start_error()
        words = fatal[0].partition("[emerg] ")[2]
        cause = words.partition(": ")[2] or words
        return StackcostError(f"nginx did not start: {cause}", f"see {self.log}")
