"""A program on the kernel's stack with backends, which run on the load's cores."""

from abc import abstractmethod
from typing import ClassVar

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.placement import BackendPlace
from stackcost.servers.backend import NginxBackend, ensure_address
from stackcost.servers.program import HttpProgram


class WithBackend(HttpProgram):
    """The common part of a proxy and a cache. `backend_kind`: the kind of its backend."""

    backend_kind: ClassVar[str]

    def start(self) -> None:
        """Start the backends first; StackcostError with a program's output if it fails."""
        if not self.settings.files:
            raise StackcostError(
                f"{self.name} needs a {self.backend_kind} where a load of profiles has its port",
                "use a load of HTTP clients (http) in the experiment instead of profiles",
            )
        try:
            ensure_address(self.upstream)
            self.start_backend()
            self.begin()
            self.check_health()
        except BaseException:
            self.stop()
            raise

    @abstractmethod
    def start_backend(self) -> None:
        """Start the backends; `stop` ends them, also if this fails."""

    def backends_as_programs(self) -> list[NginxBackend]:
        """Its backends, not started, whose files `NginxBackend.as_program` writes.

        For who starts it by `as_program`, which is called before.
        """
        raise NotImplementedError

    @property
    def upstream(self) -> BackendPlace:
        """Where the backends run; StackcostError if the test bed has no place for them."""
        if self.endpoint.upstream is None:
            raise StackcostError(
                f"this test bed has no place for the {self.backend_kind} of {self.name}"
            )
        return self.endpoint.upstream
