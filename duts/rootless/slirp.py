"""slirp4netns, which rootless Docker and older Podman use."""

import json
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.host.waiting import wait_until
from stackcost.servers.probe import ask_socket

from .base import SERVER_AT, TAP, Rootless

SOCKET = "api.sock"
TIMEOUT_S = 5.0


class Slirp(Rootless):
    """libslirp's TCP in user mode; the port is passed by a request to its socket."""

    name = "dut/rootless_slirp4netns"
    program = package = "slirp4netns"

    def command(self) -> list[str]:
        """In the foreground; it sets addresses and the route inside."""
        return [
            *("slirp4netns", "--configure", "--mtu", "1500", "--api-socket", SOCKET),
            *("--netns-type", "path", self.server_namespace, TAP),
        ]

    def write_files(self) -> None:
        """Remove the socket of a start before."""
        (self.endpoint.folder / SOCKET).unlink(missing_ok=True)

    def wait_until_up(self) -> bool:
        """Pass the port once its socket is there, then wait as a proxy does."""
        path = self.endpoint.folder / SOCKET
        wait_until(path.exists, TIMEOUT_S)
        if path.exists():
            self._pass_port(path)
        return super().wait_until_up()

    def _pass_port(self, path: Path) -> None:
        where = self.endpoint
        arguments = {
            "proto": "tcp",
            "host_addr": where.address,
            "host_port": where.port,
            "guest_addr": SERVER_AT,
            "guest_port": where.port,
        }
        request = {"execute": "add_hostfwd", "arguments": arguments}
        answer = json.loads(ask_socket(path, json.dumps(request).encode()) or b"{}")
        if "error" in answer:
            raise StackcostError(f"{self.name} does not pass the port: {answer['error']}")
