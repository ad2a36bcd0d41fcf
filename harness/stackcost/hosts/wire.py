"""What controller and agent send each other: lines of JSON, with the types of the contract.

The controller sends {"number", "method", "arguments"}. The agent answers {"number"} with "result"
or "error" ({"what", "hint"}), in any order. Before, it sends {"version"} once, and {"say"} while it
works. An empty line shows only that the controller is still there.
"""

import errno
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from stackcost.contracts.errors import StackcostError
from stackcost.files import PROFILES

HEARTBEAT_S = 5.0  # between lines of the controller, at most
SILENCE_LIMIT_S = 30.0  # after which the agent takes the controller for dead


def encode_arguments(method: Callable[..., Any], *given: Any, **named: Any) -> dict[str, Any]:
    """The arguments of a call by name, as JSON has them. `method`: with `self`, of a class."""
    bound = inspect.signature(method).bind(None, *given, **named)
    return {
        name: to_jsonable_python(value) for name, value in bound.arguments.items() if name != "self"
    }


def decode_arguments(method: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the method's annotations say."""
    hints = get_type_hints(method)
    return {
        name: TypeAdapter(hints[name]).validate_python(value) for name, value in arguments.items()
    }


def decode_result(method: Callable[..., Any], result: Any) -> Any:
    """A result as the method's annotation says."""
    return TypeAdapter(get_type_hints(method)["return"]).validate_python(result)


def pack_error(error: Exception) -> dict[str, str]:
    """An error for the other side; of one of ours, what happened and how it is fixed."""
    if isinstance(error, StackcostError):
        return {"what": error.what, "hint": error.hint}
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return {
            "what": f"no space left on its disk for {error.filename or 'a file'}",
            "hint": "free some space there; to see its use: df -h",
        }
    return {"what": f"{type(error).__name__}: {error}", "hint": ""}


def pack_profile(profile: Path) -> dict[str, str]:
    """A profile for another host: the name of a built-in one, or a file's name and text."""
    if profile.parent == PROFILES.resolve() or profile == Path():
        return {"name": profile.name}
    return {"name": profile.name, "text": profile.read_text()}


def unpack_profile(packed: Mapping[str, str], folder: Path) -> Path:
    """Its path on this host. `folder`: where a file that is not built in is written."""
    name = Path(packed["name"]).name
    if "text" not in packed:
        return PROFILES.resolve() / name if name else Path()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(packed["text"])
    return path
