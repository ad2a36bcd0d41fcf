"""HAProxy that answers from memory: the example of docs/adding-a-server.md."""

import csv
import re
import subprocess
from typing import Any

from stackcost.host.namespace import find_program
from stackcost.servers.probe import ask_socket
from stackcost.servers.program import HttpProgram

SMALLEST_BUFFER = 16_384  # HAProxy's own default; a response has to fit into one
SPARE = 2_048  # bytes of the buffer for the headers


class HAProxy(HttpProgram):
    """One process with a thread for each worker; every request is answered from memory."""

    def command(self) -> list[str]:
        """The command that runs it in the foreground, without a master process."""
        program = find_program("haproxy", "install it: apt-get install haproxy")
        return [program, "-db", "-f", "haproxy.cfg"]

    def write_files(self) -> None:
        """Write the configuration and the body."""
        (self.endpoint.folder / "body").write_bytes(b"x" * self.body_bytes)
        (self.endpoint.folder / "haproxy.cfg").write_text(self._configuration())

    def requests_counted(self) -> int | None:
        """The frontend's req_tot, read from the UNIX socket, so no TCP counter changes."""
        text = ask_socket(self.endpoint.folder / "admin.sock", b"show stat\n").decode()
        rows = csv.DictReader(text.removeprefix("# ").splitlines())
        return next(int(row["req_tot"]) for row in rows if row["pxname"] == "web")

    def describe(self) -> dict[str, Any]:
        """Adds the version and the configuration."""
        said = subprocess.run([self.command()[0], "-v"], capture_output=True, text=True).stdout
        version = re.search(r"version (\S+)", said)
        return super().describe() | {
            "version": version[1] if version else None,
            "configuration": self._configuration(),
        }

    def _configuration(self) -> str:
        room = self.settings.program.worker_connections * self.workers
        return f"""global
    nbthread {self.workers}
    maxconn {room}
    no strict-limits # it would ask for two files for each connection; it needs one
    tune.bufsize {max(SMALLEST_BUFFER, self.settings.response_bytes + SPARE)}
    stats socket unix@admin.sock
defaults
    mode http
    timeout client 75s
    timeout http-keep-alive 75s
    timeout http-request 75s
frontend web
    bind {self.endpoint.address}:{self.endpoint.port}
    http-request return status 200 content-type application/octet-stream file body
"""
