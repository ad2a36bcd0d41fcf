"""Entries of an experiment file that name a part of the suite or a file of the user."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo, WithJsonSchema

from stackcost.bed.tuning import tier_of
from stackcost.contracts.errors import StackcostError
from stackcost.servers import registry
from stackcost.stacks import PROFILE_SUFFIX, check_stack, stack_names


def _absolute(name: str, suffix: str, info: ValidationInfo) -> str:
    """A file's path made absolute, relative to the experiment file; any other name unchanged."""
    folder = (info.context or {}).get("folder", ".")
    return str(Path(folder, name).resolve()) if name.endswith(suffix) else name


def _known_tier(name: str, info: ValidationInfo) -> str:
    """A tier's name, or the path of its file, relative to the experiment file."""
    name = _absolute(name, ".yaml", info)
    try:
        tier_of(name)
    except StackcostError as error:
        raise ValueError(str(error)) from error
    return name


def _known_stack(name: str, info: ValidationInfo) -> str:
    """A stack's name, or the path of a profile of Onload, relative to the experiment file."""
    name = _absolute(name, PROFILE_SUFFIX, info)
    try:
        check_stack(name)
    except StackcostError as error:
        raise ValueError(str(error)) from error
    return name


def _known_server(name: str, info: ValidationInfo) -> str:
    """A server's name, or the path of its file, relative to the experiment file."""
    try:
        registry.check_entry(name)
    except StackcostError as error:
        raise ValueError(str(error)) from error
    return _absolute(name, registry.SUFFIX, info)


def _each_once(values: list[object]) -> list[object]:
    if len(set(values)) != len(values):
        raise ValueError("the list contains a value twice")
    return values


def _own_file(name: str, info: ValidationInfo) -> str:
    """The path of a file with a class of the user's own, relative to the experiment file."""
    if not name.endswith(registry.SUFFIX):
        raise ValueError(f"it is a Python file, whose name ends with {registry.SUFFIX}")
    return _absolute(name, registry.SUFFIX, info)


def _own_folder(folder: Path, info: ValidationInfo) -> Path:
    """An absolute path. One in an experiment file is relative to that, and is there."""
    if not info.context:
        return folder
    path = Path(info.context["folder"], folder).resolve()
    if not path.is_dir():
        raise ValueError(f"there is no folder {path}")
    return path


def is_version(kernel: str) -> bool:
    """Whether a kernel is named by its version, such as 6.12, and not by a file."""
    return re.fullmatch(r"\d+\.\d+", kernel) is not None


def known_kernel(kernel: str, folder: Path) -> str:
    """A version, or the absolute path of a file, which is relative to a folder; StackcostError if
    it is neither.
    """
    path = folder.resolve() / kernel
    if is_version(kernel) or path.is_file():
        return kernel if is_version(kernel) else str(path)
    raise StackcostError(f"a kernel is a version, such as 6.12, or a file; there is no {path}")


def _own_kernel(kernel: str, info: ValidationInfo) -> str:
    """As `known_kernel`; relative to the experiment file."""
    try:
        return known_kernel(kernel, info.context["folder"]) if info.context else kernel
    except StackcostError as error:
        raise ValueError(str(error)) from error


Folder = Annotated[Path, AfterValidator(_own_folder)]
KernelName = Annotated[str, AfterValidator(_own_kernel)]
TierName = Annotated[str, AfterValidator(_known_tier)]
Once = AfterValidator(_each_once)
OwnFile = Annotated[
    str,
    AfterValidator(_own_file),
    WithJsonSchema({"type": "string", "pattern": f"\\{registry.SUFFIX}$"}),
]
STACK_SCHEMA = {
    "anyOf": [
        {"enum": stack_names(), "description": "a built-in stack"},
        {
            "type": "string",
            "pattern": f"\\{PROFILE_SUFFIX}$",
            "description": "your own profile of Onload: its file, relative to this file",
        },
    ]
}
StackName = Annotated[str, AfterValidator(_known_stack), WithJsonSchema(STACK_SCHEMA)]
SERVER_SCHEMA = {
    "anyOf": [
        {"enum": list(registry.SHIPPED), "description": "a built-in server"},
        {
            "type": "string",
            "pattern": f"\\{registry.SUFFIX}$",
            "description": "your own server: its Python file, relative to this file",
        },
    ]
}
ServerName = Annotated[str, AfterValidator(_known_server), WithJsonSchema(SERVER_SCHEMA)]
