"""The path of a profile, whose file goes with it to another host."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, SerializationInfo, ValidationInfo


@dataclass(frozen=True, slots=True)
class ProfileFolders:
    """Where profiles are on a host: the suite's, and those received from another host."""

    built_in: Path
    received: Path | None = None


def _pack(profile: Path, info: SerializationInfo) -> dict[str, str]:
    """The name of a built-in one, or a file's name and text."""
    folders: Any = info.context
    if profile == Path() or profile.parent == folders.built_in:
        return {"name": profile.name}
    return {"name": profile.name, "text": profile.read_text()}


def _unpack(packed: Any, info: ValidationInfo) -> Any:
    """Its path on this host; a file that is not built in is written."""
    if not isinstance(packed, Mapping):
        return packed
    folders: Any = info.context
    name = Path(packed["name"]).name
    if "text" not in packed:
        return folders.built_in / name if name else Path()
    folders.received.mkdir(parents=True, exist_ok=True)
    path = folders.received / name
    path.write_text(packed["text"])
    return path


ProfileFile = Annotated[Path, PlainSerializer(_pack), BeforeValidator(_unpack)]
