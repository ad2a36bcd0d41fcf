"""A program that serves files from memory to HTTP clients, over TLS too."""

from abc import abstractmethod
from typing import Any

from typing_extensions import override

from stackcost.contracts.errors import StackcostError
from stackcost.servers.certificate import make_certificate
from stackcost.servers.memory_files import with_memory_files
from stackcost.servers.program import HttpProgram

ROOT = "www"


class FileServer(HttpProgram):
    """The common part of servers with TLS libraries of their own.

    A kind gives `program` and `configuration`. The files are below `ROOT` in the program's folder,
    and `stackcost.servers.certificate` names those of the certificate.
    """

    @abstractmethod
    def program(self) -> list[str]:
        """The program and its arguments; it stays in the foreground."""

    @abstractmethod
    def configuration(self) -> dict[str, str]:
        """The text of each of its configuration files, by name."""

    def start(self) -> None:
        """Start it and wait until it answers; StackcostError with its output if it fails."""
        if not self.settings.files:
            raise StackcostError(
                f"{self.name} serves files to HTTP clients, and a load of profiles names none",
                "use a load of HTTP clients (http) in the experiment instead of profiles",
            )
        super().start()

    def command(self) -> list[str]:
        """The program, which a shell starts when it has written the files."""
        return with_memory_files(ROOT, self.settings.files, self.program())

    def write_files(self) -> None:
        """Write the configuration, and the certificate if it serves TLS."""
        folder = self.endpoint.folder
        (folder / ROOT).mkdir(exist_ok=True)
        if self.settings.tls_port:
            make_certificate(folder, self.endpoint.address, self.settings.program.certificate)
        for name, text in self.configuration().items():
            (folder / name).write_text(text)

    def describe(self) -> dict[str, Any]:
        """With its configuration and the kind of its certificate."""
        return super().describe() | {
            "command": self.program(),
            "configuration": "\n".join(self.configuration().values()),
            "certificate": self.settings.program.certificate if self.settings.tls_port else None,
        }

    @classmethod
    @override
    def lacks_resumption(cls) -> str:
        return ""
