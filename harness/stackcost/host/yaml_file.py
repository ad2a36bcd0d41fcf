"""Reads a YAML file that a user wrote: whatever is wrong in it is one error with its line."""

from pathlib import Path
from typing import Any, Literal

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent
from ruamel.yaml.reader import ReaderError

from stackcost.contracts.errors import StackcostError

DEEPEST = 50  # levels; an experiment has four


def read_yaml(path: Path, what: str, kind: Literal["rt", "safe"] = "safe") -> Any:
    """The content of a file; `what` it is, for the message: "the experiment".

    `kind`: of ruamel's loader; with "rt" mappings and lists know their lines. StackcostError when
    it cannot be read, is no text in UTF-8, no YAML, or nested deeper than `DEEPEST`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise StackcostError(f"cannot read {what} {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise StackcostError(f"{path} is not a UTF-8 text file") from error
    try:
        _check_depth(path, text)
        return YAML(typ=kind).load(text)
    except ReaderError as error:  # its position is an index into the text
        line = text.count("\n", 0, error.position) + 1
        raise StackcostError(
            f"{path} line {line}: not YAML: the character {chr(error.character)!r} is not allowed"
        ) from error
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise StackcostError(f"{path} line {line}: not YAML: {error.problem}") from error


def _check_depth(path: Path, text: str) -> None:
    """The loader calls itself for each level; the parser's events, which it reads, do not."""
    depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        if isinstance(event, CollectionStartEvent):
            depth += 1
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            line = event.start_mark.line + 1
            raise StackcostError(f"{path} line {line}: nested deeper than {DEEPEST} levels")
