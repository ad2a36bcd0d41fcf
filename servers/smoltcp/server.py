"""smoltcp, a TCP stack for small machines, as the stack of an HTTP server; one thread."""

from pathlib import Path

from stackcost.host.native import CARGO, NativeProgram
from stackcost.servers.native import Native
from stackcost.servers.user_stack import COUNTER, UserStack


class Smoltcp(Native, UserStack):
    """A server on smoltcp: one thread, whatever `workers` says, and IPv4 to one gateway."""

    name = "rust/smoltcp"
    native = NativeProgram("smoltcp-web", Path(__file__).parent, CARGO, (1, 91), ("smoltcp",))

    def congestion_control(self) -> str:
        """smoltcp is built without one."""
        return "none"

    @property
    def workers(self) -> int:
        """One."""
        return 1

    def command(self) -> list[str]:
        """All its settings are in its arguments."""
        where = self.endpoint
        interface, own, gateway = self.link
        service = f"{where.address}:{where.port}"
        program = str(self.native.build())
        return [program, str(self.body_bytes), COUNTER, service, interface, own, gateway]
