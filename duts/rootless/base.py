"""A rootless network: the server's namespace has a TAP interface, and a program behind it.

The program ends clients' connections outside, and speaks TCP to the server's kernel in frames. It
hands them over in its own system calls. So the server's receive work is done on the path's cores,
and is in the path's cost.
"""

import shutil
from typing import ClassVar

from stackcost.contracts.metrics import POLL_ROLE
from stackcost.duts.proxy import Proxy
from stackcost.host.debian import install_command
from stackcost.host.namespace import NAMESPACE_FOLDER, execute

TAP = "sc-tap0"
# The network that slirp4netns has by default; pasta is given the same.
GATEWAY, SERVER_AT, BITS = "10.0.2.2", "10.0.2.100", 24


class Rootless(Proxy):
    """A kind gives `program`, the Debian `package` it comes with, and its `command`."""

    backend_at = SERVER_AT
    program: ClassVar[str]
    package: ClassVar[str]

    @classmethod
    def lacks(cls) -> str:
        """Its program, which no other part of the suite needs."""
        if shutil.which(cls.program):
            return ""
        return f"{cls.program} is not installed; {install_command([cls.package])}"

    def configure(self) -> None:
        """Take the server's own link and addresses away; give it the address inside beforehand."""
        super().configure()
        namespace, interface = self.wired.ends[-1]
        execute(namespace, ["ip", "link", "set", interface, "down"])
        execute(namespace, ["ip", "address", "flush", "dev", interface])
        execute(namespace, ["ip", "address", "replace", f"{SERVER_AT}/32", "dev", "lo"])

    def depends_on(self) -> dict[str, int]:
        """The server behind it. Who polls the server's interface is the program itself, on the
        path's cores, so the server has no receive work on its own.
        """
        if self.backend is None or self._program.process_id is None:
            return {}
        return self.backend.processes() | {f"{POLL_ROLE}-0": self._program.process_id}

    def write_files(self) -> None:
        """Write nothing: these programs have no configuration file."""

    def configuration(self) -> str:
        """Its arguments are all of it."""
        return " ".join(self.command())

    @property
    def server_namespace(self) -> str:
        """The file of the server's namespace."""
        return str(NAMESPACE_FOLDER / self.wired.serving)
