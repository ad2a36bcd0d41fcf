"""Loads Python files by their paths: systems under test, and collectors and loads of a user's own.

A file may import the files beside it (`from .figures import CacheCollector`), the suite's own and a
user's alike.
"""

import hashlib
import importlib.util
import inspect
import sys
import traceback
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from stackcost.contracts.errors import StackcostError

Kind = TypeVar("Kind")
OWN_FOLDERS: set[str] = set()  # of the users' files that were loaded


@cache
def class_in(path: Path, kind: type[Kind], pages: str, what: str = "") -> type[Kind]:
    """The one class of this kind in a Python file of the user's own.

    `pages`: which show an example. `what`: the kind in words; else its own name.
    StackcostError when the file is missing or fails, with its own line, or does not contain exactly
    one such class, with all of its methods.
    """
    if not path.is_file():
        raise StackcostError(f"there is no file {path}", f"an example: {pages}")
    what = what or kind.__name__.lower()
    OWN_FOLDERS.add(str(path.parent))
    try:
        module = module_of(path)
    except Exception as error:
        raise own_fault(error) or StackcostError(f"{path}: {_said(error)}") from error
    found = [
        each
        for each in vars(module).values()
        if inspect.isclass(each) and issubclass(each, kind) and each.__module__ == module.__name__
    ]
    if len(found) != 1:
        said = ", ".join(each.__name__ for each in found) or "none"
        raise StackcostError(
            f"{path} must contain exactly one {what} class; it contains {said}",
            f"from what to derive it: {pages}",
        )
    if missing := sorted(getattr(found[0], "__abstractmethods__", ())):
        raise StackcostError(
            f"{path}: {found[0].__name__} does not implement {', '.join(missing)}",
            f"{kind.__module__.replace('.', '/')}.py describes each method",
        )
    return found[0]


@cache
def module_of(path: Path) -> ModuleType:
    """The file as a module of a package that stands for its folder; it is executed once."""
    package = f"stackcost_system_{hashlib.sha256(str(path.parent).encode()).hexdigest()[:12]}"
    if package not in sys.modules:
        folder = ModuleType(package)
        folder.__path__ = [str(path.parent)]
        sys.modules[package] = folder
    name = f"{package}.{path.stem.replace('.', '_')}"
    if name in sys.modules:  # a file beside it has imported it
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # as its name ends in .py
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def own_fault(error: BaseException) -> StackcostError | None:
    """An error of a user's own Python file, with its last line there; None if it is of no such.

    Its methods are called while test beds are made and trials run, so it may come from anywhere.
    """
    if isinstance(error, StackcostError):
        return None
    if isinstance(error, SyntaxError) and _is_own(error.filename or ""):
        return StackcostError(f"{error.filename} line {error.lineno}: {_said(error)}")
    frames = traceback.extract_tb(error.__traceback__)
    own = next((at for at in reversed(frames) if _is_own(at.filename)), None)
    if own is None:
        return None
    method = "" if own.name == "<module>" else f", in {own.name}"
    return StackcostError(f"{own.filename} line {own.lineno}{method}: {_said(error)}")


def _is_own(file: str) -> bool:
    return str(Path(file).parent) in OWN_FOLDERS


def _said(error: BaseException) -> str:
    """The error's type and its words; where those of a syntax error are, its line says."""
    words = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
