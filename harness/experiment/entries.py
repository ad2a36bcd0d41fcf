"""Entries of an experiment file that name something of the suite, or a file of one's own."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo, WithJsonSchema

from stackcost.contracts.errors import StackcostError
from stackcost.harness.systems import registry
from stackcost.harness.tuning import tier_of


def _absolute(name: str, suffix: str, info: ValidationInfo) -> str:
    """The path of a file made absolute from the validation's folder; any other name as it is."""
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


def _known_server(name: str, info: ValidationInfo) -> str:
    """A server's name, or the path of its file, relative to the experiment file."""
    try:
        registry.check_entry(name)
    except StackcostError as error:
        raise ValueError(str(error)) from error
    return _absolute(name, registry.SUFFIX, info)


def _each_once(values: list[object]) -> list[object]:
    if len(set(values)) != len(values):
        raise ValueError("a value stands twice in the list")
    return values


TierName = Annotated[str, AfterValidator(_known_tier)]
Once = AfterValidator(_each_once)
SERVER_SCHEMA = {
    "anyOf": [
        {"enum": list(registry.SHIPPED), "description": "a server of the suite"},
        {
            "type": "string",
            "pattern": f"\\{registry.SUFFIX}$",
            "description": "a server of your own: its file, relative to this one",
        },
    ]
}
ServerName = Annotated[str, AfterValidator(_known_server), WithJsonSchema(SERVER_SCHEMA)]
