"""A host whose agent does what the controller calls for."""

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from typing_extensions import override

from stackcost.contracts.errors import StackcostError
from stackcost.files import DUTS, PACKAGE, PACKED, SERVERS
from stackcost.host.timeouts import on_a_slow_host, scaled_timeout
from stackcost.remote.connection import Channel, Connection
from stackcost.remote.stub import CALL_LIMIT_S, Call, RemoteStub, how_of
from stackcost.remote.types import decode_result, encode_arguments


@cache
def suite_version() -> str:
    """The version of the package, and a hash of its Python files.

    The two ends exchange types of this code, so the same number with other code is another version:
    a checkout that was changed, for example. Files of experiments and profiles do not count.
    """
    digest = hashlib.sha256()
    for folder in (PACKAGE, SERVERS, DUTS):
        for path in sorted(folder.rglob("*.py")):
            if folder != PACKAGE or PACKED not in path.parents:
                digest.update(path.read_bytes())
    return f"{metadata.version('stackcost')}+{digest.hexdigest()[:12]}"


Kind = TypeVar("Kind")
HEARTBEAT_S = 5.0  # between lines of the controller, at most


class Host:
    """A connection to the agent of a host; a context manager. Threads may share it.

    `name`: of the host, for messages. `say`: shows what the agent is doing. StackcostError when the
    agent does not start, or is of another version.
    """

    def __init__(self, name: str, channel: Channel, say: Callable[[str], None]):
        self.name = name
        ended = "the line to its agent has ended: "
        self._connection = Connection(channel, say, HEARTBEAT_S, ended)
        try:
            self._check_version()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def remote(self, kind: type[Kind]) -> Kind:
        """A stub of the agent's object of this class."""
        stub = type(f"Remote{kind.__name__}", (_Remote, kind), {}, of=kind)
        return cast(Kind, stub(self))

    def ask(self, call: Call) -> "Future[Any]":
        """Send a call; `wait` has its answer."""
        with self._named():
            return self._connection.ask(call.name, encode_arguments(call.method, call.arguments))

    def wait(self, call: Call, answer: "Future[Any]") -> Any:
        """The result of a call that was sent; StackcostError also if it takes too long."""
        result = self._within(answer, call.method.__name__, how_of(call.method).limit_s)
        return decode_result(call.method, result)

    def carry_out(self, call: Call) -> Any:
        """Send a call, and return its result."""
        return self.wait(call, self.ask(call))

    def close(self) -> None:
        """End the agent's input: it undoes what is left, and ends."""
        self._connection.close()

    def _check_version(self) -> None:
        here = suite_version()
        there = self._within(self._connection.version, "starting the agent", CALL_LIMIT_S)
        if there != here:
            raise StackcostError(
                f"host {self.name} has another version of stackcost: {there}; here is {here}",
                "install the same version on both hosts",
            )

    def _within(self, answer: "Future[Any]", what: str, limit_s: float) -> Any:
        try:
            with self._named():
                return answer.result(scaled_timeout(limit_s))
        except TimeoutError:
            raise StackcostError(
                f"host {self.name}: {what} did not end in {scaled_timeout(limit_s):g} s",
                on_a_slow_host(),
            ) from None

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Inside, an error names the host."""
        try:
            yield
        except StackcostError as error:
            raise StackcostError(f"host {self.name}: {error.what}", error.hint) from error


class _Remote(RemoteStub):
    """A stub whose calls a host's agent carries out."""

    def __init__(self, host: Host):
        self._host = host

    @override
    def handle(self, call: Call) -> Any:
        return self._host.carry_out(call)


@contextmanager
def finishing(close: Callable[[], dict[str, str]], folder: Path) -> Iterator[None]:
    """On exit let an agent undo everything, and keep its logs in `folder`. `close`: of `Agent`."""
    try:
        yield
    finally:
        with suppress(StackcostError):  # a line that was cut: the agent undoes everything too
            for name, text in close().items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
