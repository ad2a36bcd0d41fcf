"""nginx in its own namespace on the kernel's stack."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import psutil
from typing_extensions import override

from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.http import HttpVersion
from stackcost.contracts.program_settings import ProgramSettings
from stackcost.contracts.server import Server, ServerSettings
from stackcost.host.program import Program
from stackcost.servers.certificate import make_certificate
from stackcost.servers.memory_files import with_memory_files
from stackcost.servers.nginx_status import (
    STATUS_SOCKET,
    Status,
    affinity_masks,
    find_build,
    read_status,
)
from stackcost.servers.probe import Response, ask, ensure_port_free, fit_body, statuses

from .configuration import Directives, render

DEFAULT_REQUEST = b"GET / HTTP/1.1\r\nHost: 48.0.0.1\r\n\r\n"
STOP_TIMEOUT_S = 5.0
SPARE_FILES = 200  # besides connections, nginx opens logs, sockets and served files

BOTH_VERSIONS = "TLSv1.2 TLSv1.3"  # for profiles, whose clients say which they want
DEFAULT_SETTINGS = ProgramSettings()
NO_HTTP3 = "the configuration of nginx here does not listen for HTTP/3, though nginx could"


class NginxKernel(Server):
    """nginx serving one file of `body_bytes` for every path.

    `response_bytes`: of a whole response, headers included, in place of `body_bytes`; the body is
    fitted to it at start. `open_flows`: connections that have to be possible at once.
    `program`: its section of an experiment; a worker is bound to each core in turn.
    `keepalive_timeout_s`: how long nginx waits for the client to close first; 0 makes nginx close
    first, so that TIME_WAIT stays on the server.
    `request`: what `response_length` and the health check send; give the very request of the load,
    as headers of the response depend on it.
    `directives`: a tuning's own, by context; they come before those given here.
    `files`: lengths by path, served from a tmpfs, in place of the one body. `tls_port`: where the
    same is served over TLS; `resumption_port`: there with tickets, too. Either may be the port of
    `endpoint`, which then has TLS alone. `protocols`: versions of TLS, as nginx names them; empty:
    nginx's own choice, without 1.3 in nginx 1.22. `http2`: whether both offer HTTP/2.
    """

    name = "nginx/kernel"
    takes_tls = True
    takes_reuseport = True

    def __init__(
        self,
        endpoint: Endpoint,
        body_bytes: int = 32_000,
        response_bytes: int | None = None,
        open_flows: int = 0,
        program: ProgramSettings = DEFAULT_SETTINGS,
        keepalive_timeout_s: int = 75,
        request: bytes = DEFAULT_REQUEST,
        directives: Directives | None = None,
        files: Mapping[str, int] | None = None,
        tls_port: int | None = None,
        resumption_port: int | None = None,
        protocols: str = "",
        http2: bool = False,
    ):
        self._endpoint = endpoint
        self._body_bytes = response_bytes or body_bytes
        self._response_bytes = response_bytes
        self._open_flows = open_flows
        self._settings = program
        self._workers = program.workers or len(endpoint.cpus)
        self._keepalive_timeout_s = keepalive_timeout_s
        self._request = request
        self._directives = directives or {}
        self._files = dict(files or {})
        self._tickets = {tls_port: "off", resumption_port: "on"}
        self._tickets.pop(None, None)
        self._protocols = protocols
        self._http2 = http2
        if self._files:
            self._body_bytes = min(self._files.values())
        self._program = Program("nginx", self._log_path)
        self._own_requests = 0
        self._build = find_build()

    @classmethod
    @override
    def make(cls, endpoint: Endpoint, settings: ServerSettings) -> Self:
        return cls(
            endpoint,
            response_bytes=None if settings.files else settings.response_bytes,
            open_flows=settings.open_flows,
            program=settings.program,
            directives=settings.tier.directives(),
            request=settings.request,
            files=settings.files,
            tls_port=settings.tls_port,
            resumption_port=settings.resumption_port,
            protocols=BOTH_VERSIONS if settings.tls else "",
            http2="2" in settings.http_versions,
        )

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

    def start(self) -> None:
        """Start nginx and wait until it answers; StackcostError with nginx's own words if not."""
        try:
            if self._response_bytes is None:
                self._start()
            else:
                fit_body(self._response_bytes, self._serve)
            self._check_open_files()
        except BaseException:
            self.stop()
            raise

    @override
    def as_program(self, body_bytes: int) -> list[str]:
        self._body_bytes = body_bytes
        self._write_files()
        return self._command()

    def _start(self) -> None:
        self.stop()
        self._own_requests = 0
        where = self._endpoint
        ensure_port_free(where.namespace, where.address, where.port)
        try:
            self._write_files()
            self._program.start(where.run, self._command(), cwd=where.folder)
            if not self._program.wait_until_up(self._answers):
                raise self._explain()
            self.check_health()
        except BaseException:
            self.stop()
            raise

    def check_health(self) -> None:
        """One request must bring the whole body."""
        response = self._ask()
        if response.status != 200 or len(response.body) != self._body_bytes:
            raise StackcostError(
                f"nginx answered {response.status} with {len(response.body)} bytes, "
                f"instead of 200 with {self._body_bytes} bytes",
                f"see {self._log_path}",
            )

    def response_length(self) -> int:
        """Bytes of headers and body in answer to `request`, from a real one."""
        return self._ask().length

    def sampled_statuses(self) -> dict[str, int] | None:
        """By requests of its own namespace."""
        return statuses(self._ask)

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
            status = read_status(self._endpoint.folder)
        except TimeoutError:
            self._own_requests += 1  # it reads and counts what was sent when it comes to it
            raise
        self._own_requests += 1
        return status

    def requests_served(self) -> int | None:
        """Requests since start by nginx's own count, less those made here."""
        try:
            return self.status().requests - self._own_requests
        except TimeoutError:
            return None

    def refusals(self) -> dict[str, int] | None:
        """Connections that it accepted and closed at once, because its workers were full."""
        try:
            status = self.status()
        except TimeoutError:
            return None
        return {"worker_connections": status.accepted - status.handled}

    def processes(self) -> dict[str, int]:
        """The master and its workers, in the order they were started."""
        master = self._program.process_id
        if master is None or not self._program.runs:
            return {}
        workers = sorted(child.pid for child in psutil.Process(master).children())
        return {
            "master": master,
            **{f"worker-{i}": worker for i, worker in enumerate(workers)},
        }

    def describe(self) -> dict[str, Any]:
        """Version, configuration and tuning."""
        return {
            "name": self.name,
            "version": self._build.version,
            "workers": self._workers,
            "cpus": list(self._endpoint.cpus),
            "worker_connections": self._settings.worker_connections,
            "reuseport": self._settings.reuseport,
            "keepalive_timeout_s": self._keepalive_timeout_s,
            "body_bytes": self._body_bytes,
            "open_files": self.open_files(),
            "files": self._files,
            "certificate": self._settings.certificate if self._tickets else None,
            "configuration": self._render(),
        }

    def stop(self) -> None:
        """End nginx; its configuration and log stay in the folder."""
        self._program.end(STOP_TIMEOUT_S)
        for name in (STATUS_SOCKET, "nginx.pid"):
            (self._endpoint.folder / name).unlink(missing_ok=True)
        for name in ("temporary", "www"):
            shutil.rmtree(self._endpoint.folder / name, ignore_errors=True)

    def _serve(self, body_bytes: int) -> int:
        self._body_bytes = body_bytes
        self._start()
        return self.response_length()

    def _ask(self) -> Response:
        where = self._endpoint
        tls = where.port in self._tickets
        response = ask(where.namespace, where.address, where.port, self._request, tls)
        self._own_requests += 1
        return response

    def _check_open_files(self) -> None:
        granted, needed = self.open_files(), self._open_flows + SPARE_FILES
        if granted < needed:
            raise StackcostError(
                f"nginx may open {granted:,} files on this machine, but {self._open_flows:,} open "
                f"flows need {needed:,}",
                "raise the hard limit (ulimit -Hn), or lower memory.open_flows in the experiment",
            )

    @property
    def _log_path(self) -> Path:
        return self._endpoint.folder / "error.log"

    def _command(self) -> list[str]:
        """nginx in its folder; before it the files that it serves from memory."""
        nginx = [self._build.path, "-p", ".", "-e", "stderr", "-c", "nginx.conf"]
        return with_memory_files("www", self._files, nginx) if self._files else nginx

    def _write_files(self) -> None:
        folder = self._endpoint.folder
        (folder / "www").mkdir(parents=True, exist_ok=True)
        (folder / "temporary").mkdir(exist_ok=True)
        if not self._files:
            (folder / "www" / "body").write_bytes(b"x" * self._body_bytes)
        if self._tickets:
            make_certificate(folder, self._endpoint.address, self._settings.certificate)
        (folder / "nginx.conf").write_text(self._render())

    def _render(self) -> str:
        return render(
            self._build,
            workers=self._workers,
            affinity_masks=affinity_masks(self._workers, self._endpoint.cpus),
            worker_connections=self._settings.worker_connections,
            directives=self._all_directives(),
            address=self._endpoint.address,
            listeners={self._endpoint.port: ""} | self._tickets,
            protocols=self._protocols,
            http2=self._http2,
            reuseport=self._settings.reuseport,
            backlog=self._settings.backlog,
            files=self._files,
        )

    def _all_directives(self) -> Directives:
        """Those that a tuning may replace, and its own: by default what Debian's nginx.conf has."""
        usual = {"sendfile": "on", "tcp_nopush": "on"}
        usual["keepalive_timeout"] = f"{self._keepalive_timeout_s}s"
        return {
            "main": self._directives.get("main", {}),
            "events": self._directives.get("events", {}),
            "http": usual | dict(self._directives.get("http", {})),
        }

    def _answers(self) -> bool:
        """Check its status socket, which no other server can use."""
        try:
            self.status()
        except (OSError, ValueError):
            return False
        return True

    def _explain(self) -> StackcostError:
        """Why it did not start: the [emerg] line of its output, or the general reason."""
        fatal = [line for line in self._program.output().splitlines() if "[emerg]" in line]
        if not fatal:
            return self._program.start_error()
        words = fatal[0].partition("[emerg] ")[2]
        cause = words.partition(": ")[2] or words
        return StackcostError(f"nginx did not start: {cause}", f"see {self._log_path}")
