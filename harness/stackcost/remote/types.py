"""Values of calls by the annotations of the method, for two hosts with the same code.

Apart from the protocol's lines, which a Python of another version reads, without these packages.
"""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter

from stackcost.contracts.profile_file import ProfileFolders
from stackcost.files import PROFILES

BUILT_IN = PROFILES.resolve()


def encode_arguments(method: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as JSON has them."""
    types, context = _types(method), ProfileFolders(BUILT_IN)
    return {
        name: types[name].dump_python(value, mode="json", context=context)
        for name, value in arguments.items()
    }


def decode_arguments(
    method: Callable[..., Any], arguments: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    """The arguments. `folder`: where profiles of the other host are written."""
    types, context = _types(method), ProfileFolders(BUILT_IN, folder)
    return {
        name: types[name].validate_python(value, context=context)
        for name, value in arguments.items()
    }


def decode_result(method: Callable[..., Any], result: Any) -> Any:
    """A result of the method."""
    return _types(method)["return"].validate_python(result)


@cache
def _types(method: Callable[..., Any]) -> dict[str, TypeAdapter[Any]]:
    hints = get_type_hints(getattr(method, "__func__", method), include_extras=True)
    return {name: TypeAdapter(hint) for name, hint in hints.items()}
