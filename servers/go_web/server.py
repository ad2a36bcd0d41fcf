"""Go's net/http on two stacks: the kernel's, and gVisor's netstack in the same process."""

from pathlib import Path

from stackcost.host.native import GO, NativeProgram
from stackcost.servers.native import Native
from stackcost.servers.user_stack import COUNTER, CountingProgram, UserStack

PROGRAM = NativeProgram("go-web", Path(__file__).parent, GO, (1, 26), ("gvisor.dev/gvisor",))


class GoOnKernel(Native, CountingProgram):
    """The reference of the other one: all but the stack is the same program.

    `workers` is the number of cores that Go uses at once (GOMAXPROCS).
    """

    name = "go/kernel"
    native = PROGRAM

    def command(self) -> list[str]:
        """All its settings are in its arguments."""
        where = self.endpoint
        return [
            *("env", f"GOMAXPROCS={self.workers}", str(self.native.build())),
            *("kernel", str(self.body_bytes), COUNTER, f"{where.address}:{where.port}"),
        ]


class GoOnNetstack(Native, UserStack):
    """TCP and IP in the process, as in gVisor's sandbox, frames by a packet socket."""

    name = "go/netstack"
    native = PROGRAM

    def congestion_control(self) -> str:
        """The default of netstack's `tcp.NewProtocol`."""
        return "Reno"

    def command(self) -> list[str]:
        """Its command, with the link that its stack takes."""
        where = self.endpoint
        return [
            *("env", f"GOMAXPROCS={self.workers}", str(self.native.build())),
            *("netstack", str(self.body_bytes), COUNTER, f"{where.address}:{where.port}"),
            *self.link,
        ]
