"""rustls serves files over TLS, with the cryptography of AWS-LC (aws-lc-rs).

The program is main.rs: tokio, hyper and tokio-rustls, as most servers in Rust are made.
"""

from pathlib import Path

from typing_extensions import override

from stackcost.contracts.http import HttpVersion
from stackcost.host.native import CARGO, NativeProgram
from stackcost.servers.file_server import ROOT, FileServer
from stackcost.servers.native import Native
from stackcost.servers.probe import ask_socket

COUNTER = "requests.sock"
BACKLOG = 1024  # if the experiment names none


class Rustls(Native, FileServer):
    """One process with a thread for each worker, and one that only waits."""

    name = "rustls/kernel"
    native = NativeProgram(
        "rustls-server",
        Path(__file__).parent,
        CARGO,
        (1, 85),
        ("rustls", "aws-lc-rs", "aws-lc-sys", "tokio-rustls", "hyper", "tokio"),
    )

    @classmethod
    @override
    def lacks_version(cls, version: HttpVersion) -> str:
        return "hyper has no HTTP/3" if version == "3" else ""

    def program(self) -> list[str]:
        """All its settings are in its arguments."""
        settings, where = self.settings, self.endpoint
        ports = {
            "plain": where.port,
            "full": settings.tls_port,
            "tickets": settings.resumption_port,
        }
        return [
            str(self.native.build()),
            *(str(self.workers), str(settings.program.backlog or BACKLOG)),
            *(",".join(settings.http_versions), ROOT, COUNTER),
            *(f"{kind}={where.address}:{port}" for kind, port in ports.items() if port),
        ]

    def write_files(self) -> None:
        """And remove the socket of a start before."""
        (self.endpoint.folder / COUNTER).unlink(missing_ok=True)
        super().write_files()

    def configuration(self) -> dict[str, str]:
        """Nothing: it has no configuration file."""
        return {}

    def requests_counted(self) -> int | None:
        """From its UNIX socket."""
        return int(ask_socket(self.endpoint.folder / COUNTER, b""))
