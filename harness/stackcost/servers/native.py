"""A server whose program is one of the suite's own, in Rust or Go, built when it is asked for."""

from typing import Any, ClassVar

from stackcost.host.native import NativeProgram
from stackcost.servers.program import HttpProgram


class Native(HttpProgram):
    """What such servers have in common. `native`: the program."""

    native: ClassVar[NativeProgram]

    @classmethod
    def lacks(cls) -> str:
        """The tool that builds it, unless it is built."""
        return cls.native.lacks()

    @classmethod
    def missing_program(cls) -> str:
        """The program, until it is built."""
        return "" if cls.native.path.exists() else cls.native.name

    @classmethod
    def build(cls) -> None:
        """Build the program unless that was done."""
        cls.native.build()

    def describe(self) -> dict[str, Any]:
        """With the program, whose path has the hash of its sources, and its libraries' versions."""
        return super().describe() | {
            "program": str(self.native.path),
            "libraries": self.native.libraries(),
        }
