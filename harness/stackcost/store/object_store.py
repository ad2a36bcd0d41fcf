"""Runs in an object store, such as s3://bucket/runs: whatever fsspec can reach by a URL.

A store has what a folder of results has. It is read by way of a copy in the user's cache folder,
which is brought up to date each time. A run is stored with its manifest last: without one it is no
run yet.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from stackcost.contracts.errors import StackcostError
from stackcost.host.files import read_whole, write_whole
from stackcost.store.folder import MANIFEST, SUMMARY, TRIALS, RunFolder

READ = (TRIALS, SUMMARY, MANIFEST)  # of each run in a store; of a run that is named, everything
STATE = ".stored"  # in the copy of a run: the state of its manifest in the store


def upload(run: RunFolder, url: str) -> str:
    """Copy a run into a store; returns its URL there. What it had of this run is replaced.

    StackcostError if the store cannot be reached, or does not take it.
    """
    manifest = run.path / MANIFEST
    own = [each for each in sorted(run.path.rglob("*")) if each.is_file() and each != manifest]
    with _store(url) as (files, root):
        place = f"{root}/{run.name}"
        for path in (*own, manifest):
            target = f"{place}/{path.relative_to(run.path)}"
            files.makedirs(target.rpartition("/")[0], exist_ok=True)
            files.put_file(str(path), target)
        return str(files.unstrip_protocol(place))


def copied(url: str) -> Path:
    """The folder of a store's copy on this machine, or of one run's, if that is what `url` names.

    Of all runs it has what a list or a trend reads. StackcostError if the store cannot be reached.
    """
    with _store(url) as (files, root):
        folder = _cache_of(files.unstrip_protocol(root))
        if files.exists(f"{root}/{MANIFEST}"):
            return _copied_run(files, root, folder / root.rpartition("/")[2])
        there = _manifests(files, root)
        folder.mkdir(parents=True, exist_ok=True)
        for run in folder.iterdir():
            if run.name not in there:
                shutil.rmtree(run)
        for name, state in there.items():
            _update(files, f"{root}/{name}", folder / name, state)
        return folder


def _cache_of(url: str) -> Path:
    """In the user's cache folder (XDG Base Directory); it need not exist."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    return cache / "stackcost" / "stores" / sha256(url.encode()).hexdigest()[:20]


def _copied_run(files: Any, place: str, run: Path) -> Path:
    shutil.rmtree(run, ignore_errors=True)
    for path in files.find(place):
        inside = path.removeprefix(f"{place}/")
        if ".." not in inside.split("/"):
            _copy(files, path, run / inside)
    return run


def _update(files: Any, place: str, run: Path, state: bytes) -> None:
    stored = run / STATE
    if stored.exists() and read_whole(stored) == state:
        return
    for name in READ:
        if files.exists(f"{place}/{name}"):
            _copy(files, f"{place}/{name}", run / name)
    write_whole(stored, state)


def _copy(files: Any, path: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    files.get_file(path, str(target))


def _manifests(files: Any, root: str) -> dict[str, bytes]:
    """The state of the manifest in the store of each run: what its entry in the list says."""
    found = files.glob(f"{root}/*/{MANIFEST}", detail=True)
    runs = {path.split("/")[-2]: entry for path, entry in found.items()}
    return {
        name: repr(sorted(entry.items())).encode() for name, entry in runs.items() if name != ".."
    }


@contextmanager
def _store(url: str) -> Iterator[tuple[Any, str]]:
    """The files of a store, and the path in it that `url` names, without a slash at its end."""
    try:
        from fsspec.core import url_to_fs

        files, root = url_to_fs(url)
        yield files, str(root).rstrip("/")
    except (ImportError, ValueError, OSError) as error:
        raise StackcostError(
            f"cannot reach {url}: {error}",
            "pip install 'stackcost[store]', and what fsspec needs for this kind of URL "
            "(s3fs for s3://, gcsfs for gs://)",
        ) from error
