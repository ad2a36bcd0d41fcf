"""The initial memory disk of a counting guest: its agent and the modules of its kernel."""

from collections.abc import Iterator, Sequence
from pathlib import Path

FOLDERS = ("dev", "proc", "sys", "machine", "memory", "root", "modules")
FOLDER, PROGRAM, FILE = 0o040755, 0o100755, 0o100644


def initial_disk(agent: bytes, modules: Sequence[Path]) -> bytes:
    """The archive, as Linux's Documentation/driver-api/early-userspace/buffer-format.rst has it.

    It is not compressed: an emulated processor takes long to unpack. `modules`: in the order in
    which they are inserted.
    """
    return b"".join(
        _entry(number, name, mode, content)
        for number, (name, mode, content) in enumerate(_contents(agent, modules), 1)
    )


def _contents(agent: bytes, modules: Sequence[Path]) -> Iterator[tuple[str, int, bytes]]:
    for folder in FOLDERS:
        yield folder, FOLDER, b""
    yield "init", PROGRAM, agent
    for number, module in enumerate(modules):
        yield f"modules/{number:03}-{module.name}", FILE, module.read_bytes()
    yield "TRAILER!!!", 0, b""


def _entry(number: int, name: str, mode: int, content: bytes) -> bytes:
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    return _padded(head) + _padded(content)


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % 4)
