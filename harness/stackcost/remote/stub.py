"""Classes whose methods are calls, which one method carries out.

A real class says what can be called: its public methods, with their types. A stub of it has the
same methods, and hands each call to `handle` as data. So a new method needs no change in a stub.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

CALL_LIMIT_S = 60.0
Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class How:
    """How a method is called from another process.

    `limit_s`: seconds that it may take. `once`: its answer does not change, so a stub keeps it.
    `in_turn`: the main thread of the other process does it, because programs end with the thread
    that has started them.
    """

    limit_s: float = CALL_LIMIT_S
    once: bool = False
    in_turn: bool = False


def called(
    *, limit_s: float = CALL_LIMIT_S, once: bool = False, in_turn: bool = False
) -> Callable[[Method], Method]:
    """Say how a method is called from another process; see `How`."""

    def mark(method: Method) -> Method:
        method.__dict__["how"] = How(limit_s, once, in_turn)
        return method

    return mark


def how_of(method: Callable[..., Any]) -> How:
    """What `called` said of a method."""
    found: How = getattr(method, "how", How())
    return found


def methods_of(kind: type) -> dict[str, Callable[..., Any]]:
    """The methods of a class that can be called, by name: its own public functions."""
    return {
        name: method
        for name, method in vars(kind).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }


@dataclass(frozen=True, slots=True)
class Call:
    """A call as data. `of`: the class that has the method. `arguments`: by name."""

    of: type
    method: Callable[..., Any]
    arguments: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the class and the method."""
        return f"{self.of.__name__}.{self.method.__name__}"


class RemoteStub:
    """A base of stubs: `class RemoteServer(RemoteStub, RunningServer, of=RunningServer)`.

    Each method of the class `of` that the stub does not have itself becomes a call.
    """

    def __init_subclass__(cls, of: type | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        for name, method in methods_of(of).items() if of else ():
            if of and name not in vars(cls):
                setattr(cls, name, _calling(of, method))

    def handle(self, call: Call) -> Any:
        """Carry out a call, and return what the method returns."""
        raise NotImplementedError


def call_of(of: type, name: str, /, *given: Any, **named: Any) -> Call:
    """The call of a method of the class `of`."""
    return _call(of, methods_of(of)[name], given, named)


def _calling(of: type, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def send(self: RemoteStub, /, *given: Any, **named: Any) -> Any:
        call = _call(of, method, given, named)
        if not how_of(method).once:
            return self.handle(call)
        kept = vars(self).setdefault("_kept", {})
        asked = (call.name, *call.arguments.values())
        if asked not in kept:
            kept[asked] = self.handle(call)
        return kept[asked]

    return send


def _call(
    of: type, method: Callable[..., Any], given: Sequence[Any], named: Mapping[str, Any]
) -> Call:
    bound = inspect.signature(method).bind(None, *given, **named)
    _, *arguments = bound.arguments.items()
    return Call(of, method, dict(arguments))
