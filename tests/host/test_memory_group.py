"""A group's page cache stays below its limit: a file that is larger is read from the disk again."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.host import memory_group

FILE = 96 << 20
LIMIT = 32 << 20
READ_TWICE = """
import os, re, sys
def read():
    with open(sys.argv[1], "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
    return int(re.search(r"read_bytes: (\\d+)", open("/proc/self/io").read())[1])
sys.stdin.readline()
print(read(), read())
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(os.urandom(FILE))
    descriptor = os.open(path, os.O_RDWR)
    os.fdatasync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)
    return path


@pytest.fixture
def group() -> Iterator[None]:
    yield
    assert all(step.done for step in memory_group.remove())


def read_twice(file: Path, limit: int | None) -> list[int]:
    """Bytes that a process had read from the disk after each of two readings of the file."""
    reader = subprocess.Popen(
        [sys.executable, "-c", READ_TWICE, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    if limit:
        memory_group.limit_memory([reader.pid], limit)
    said, _ = reader.communicate("\n", timeout=120)
    return list(map(int, said.split()))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes control groups")
@pytest.mark.usefixtures("group")
def test_a_file_larger_than_the_limit_comes_from_the_disk_again(file: Path) -> None:
    first, both = read_twice(file, None)
    assert first >= FILE * 0.99, "it was not in memory"
    assert both - first < FILE * 0.01, "without a limit it is, after it was read"
    descriptor = os.open(file, os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)
    first, both = read_twice(file, LIMIT)
    assert first >= FILE * 0.99 and both - first > FILE * 0.5


def test_a_machine_whose_groups_limit_no_memory_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_group, "ROOT", tmp_path)
    (tmp_path / "cgroup.subtree_control").write_text("cpu pids\n")
    with pytest.raises(StackcostError, match="no control group below") as raised:
        memory_group.limit_memory([], LIMIT)
    assert raised.value.hint == f"with cgroup v2: echo +memory > {tmp_path}/cgroup.subtree_control"


def test_the_second_version_has_its_own_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_group, "ROOT", tmp_path)
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory pids\n")
    memory_group.limit_memory([17], LIMIT)
    folder = tmp_path / memory_group.NAME
    assert (folder / "memory.max").read_text() == str(LIMIT)
    assert (folder / "cgroup.procs").read_text() == "17"
