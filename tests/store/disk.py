"""What a power cut may leave of a folder: every step of writing is recorded, then played back.

The recorder passes each call on to the system, so what is recorded is what was done. A file system
may keep a name that was given without the bytes behind it, and the bytes without the name; only
fsync(2) of the file, and of its folder, forbids it. Names of one folder are kept in their order.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Tree = dict[str, bytes | None]  # by path below the root; None: a folder
# What a disk may have of bytes that were not synchronised.
LOSSES: dict[str, Callable[[bytes], bytes]] = {
    "all of it": lambda written: written,
    "nothing": lambda written: b"",
    "half": lambda written: written[: len(written) // 2],
    "blanks": lambda written: bytes(len(written)),
}


@dataclass
class Recorder:
    """In the place of `os` for `stackcost.host.files`; every other name is that of `os`."""

    root: Path
    steps: list[tuple[str, ...] | tuple[str, int, bytes] | tuple[str, int]] = field(
        default_factory=list
    )
    _files: dict[int, int] = field(default_factory=dict)  # descriptor to number of the file
    _folders: dict[int, str] = field(default_factory=dict)
    _made: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def _name(self, path: Any) -> str:
        return str(Path(path).relative_to(self.root))

    def open(self, path: Any, flags: int, *mode: int) -> int:
        descriptor = os.open(path, flags, *mode)
        if flags & os.O_CREAT:
            self._made += 1
            self._files[descriptor] = self._made
            self.steps.append(("create", self._name(path), str(self._made)))
        elif flags & os.O_DIRECTORY:
            self._folders[descriptor] = self._name(path)
        return descriptor

    def write(self, descriptor: int, content: Any) -> int:
        # In two pieces, so that a cut between them is one of those tried.
        file = self._files[descriptor]
        begun = ("write", file) in (step[:2] for step in self.steps)
        done = os.write(descriptor, content if begun else content[: len(content) // 2])
        self.steps.append(("write", file, bytes(content[:done])))
        return done

    def fsync(self, descriptor: int) -> None:
        os.fsync(descriptor)
        if descriptor in self._files:
            self.steps.append(("fsync", self._files[descriptor]))
        else:
            self.steps.append(("fsync names", self._folders[descriptor]))

    def close(self, descriptor: int) -> None:
        os.close(descriptor)
        self._files.pop(descriptor, None)
        self._folders.pop(descriptor, None)

    def replace(self, path: Any, to: Any) -> None:
        os.replace(path, to)
        self.steps.append(("rename", self._name(path), self._name(to)))

    def unlink(self, path: Any) -> None:
        os.unlink(path)
        self.steps.append(("unlink", self._name(path)))

    def mkdir(self, path: Any, *mode: int) -> None:
        os.mkdir(path, *mode)
        self.steps.append(("mkdir", self._name(path)))


@dataclass
class _Disk:
    """What was asked of the disk, and what of it is certainly there."""

    names: list[tuple[str, ...]] = field(default_factory=list)  # in order
    kept: set[int] = field(default_factory=set)  # places in `names` that are certain
    written: dict[str, bytes] = field(default_factory=dict)
    synced: dict[str, bytes] = field(default_factory=dict)

    def do(self, step: Any) -> None:
        what = step[0]
        if what == "write":
            self.written[str(step[1])] = self.written.get(str(step[1]), b"") + step[2]
        elif what == "fsync":
            self.synced[str(step[1])] = self.written.get(str(step[1]), b"")
        elif what == "fsync names":
            self.kept |= {at for at, name in enumerate(self.names) if _folder(name) == step[1]}
        else:
            self.names.append(step)

    def trees(self) -> Iterator[Tree]:
        """All that may be there now."""
        open_names = [at for at in range(len(self.names)) if at not in self.kept]
        for more in range(len(open_names) + 1):
            there = self.kept | set(open_names[:more])
            for loss in LOSSES.values():
                yield self._tree(sorted(there), loss)

    def _tree(self, there: list[int], loss: Callable[[bytes], bytes]) -> Tree:
        found: dict[str, str | None] = {".": None}
        for what, path, *other in (self.names[at] for at in there):
            if str(Path(path).parent) not in found:
                continue
            if what == "mkdir":
                found[path] = None
            elif what == "create":
                found[path] = other[0]
            elif what == "unlink":
                found.pop(path, None)
            elif path in found:
                found[other[0]] = found.pop(path)
        return {
            path: None if file is None else self._content(file, loss)
            for path, file in found.items()
        }

    def _content(self, file: str, loss: Callable[[bytes], bytes]) -> bytes:
        synced, written = self.synced.get(file, b""), self.written.get(file, b"")
        return synced + loss(written[len(synced) :])


def _folder(name: tuple[str, ...]) -> str:
    return str(Path(name[1]).parent)


def after_power_cuts(steps: list[Any]) -> list[tuple[int, Tree]]:
    """Each different tree that a cut may leave, with the most steps made before that cut."""
    disk = _Disk()
    found: dict[tuple[tuple[str, bytes | None], ...], tuple[int, Tree]] = {}
    for done, step in enumerate([None, *steps]):
        if step:
            disk.do(step)
        for tree in disk.trees():
            found[tuple(sorted(tree.items(), key=_path))] = done, tree
    return list(found.values())


def _path(item: tuple[str, bytes | None]) -> str:
    return item[0]


def lay(tree: Tree, root: Path) -> None:
    """Make it below `root`."""
    for path, content in sorted(tree.items(), key=_path):
        if content is None:
            (root / path).mkdir(exist_ok=True)
        else:
            (root / path).write_bytes(content)
