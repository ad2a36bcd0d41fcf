"""Runs in an object store, such as s3://bucket/runs: whatever fsspec can reach by a URL.

A store has what a folder of results has. It is read by way of a copy in the user's cache folder,
which is brought up to date each time. A run is stored with its manifest last: without one it is no
run yet.
"""

import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

from stackcost.contracts.errors import StackcostError
from stackcost.host.files import read_whole, user_cache, write_whole
from stackcost.store.folder import MANIFEST, SUMMARY, TRIALS, RunFolder

READ = (TRIALS, SUMMARY, MANIFEST)  # of each run in a store; of a run that is named, everything
STATE = ".stored"  # in the copy of a run: the state of its manifest in the store


def is_url(place: object) -> bool:
    """Whether this names an object store and not a folder."""
    return "://" in str(place)


def upload(run: RunFolder, url: str) -> str:
    """Copy a run into a store; returns its URL there. What it had of this run is replaced."""
    files, root = _reached(url)
    place = f"{root.rstrip('/')}/{run.name}"
    own = [path for path in sorted(run.path.rglob("*")) if path.is_file() and path.name != MANIFEST]
    for path in (*own, run.path / MANIFEST):
        target = f"{place}/{path.relative_to(run.path)}"
        files.makedirs(target.rpartition("/")[0], exist_ok=True)
        files.put_file(str(path), target)
    return str(files.unstrip_protocol(place))


def copied(url: str) -> Path:
    """The folder of a store's copy on this machine, or of one run's, if that is what `url` names.

    Of all runs it has what a list or a trend reads. StackcostError if the store cannot be reached.
    """
    files, root = _reached(url)
    root = root.rstrip("/")
    folder = (
        user_cache() / "stores" / sha256(files.unstrip_protocol(root).encode()).hexdigest()[:20]
    )
    if files.exists(f"{root}/{MANIFEST}"):
        run = folder / root.rpartition("/")[2]
        shutil.rmtree(run, ignore_errors=True)
        for path in files.find(root):
            inside = path.removeprefix(f"{root}/")
            if ".." not in inside.split("/"):
                _copy(files, path, run / inside)
        return run
    there = {path.split("/")[-2]: state for path, state in _manifests(files, root).items()}
    for run in folder.glob("*") if folder.exists() else ():
        if run.name not in there:
            shutil.rmtree(run)
    for name, state in there.items():
        _update(files, f"{root}/{name}", folder / name, state)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


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
    """The state of each manifest in the store, by its path: what its entry in the list says."""
    found = files.glob(f"{root}/*/{MANIFEST}", detail=True)
    return {path: repr(sorted(entry.items())).encode() for path, entry in found.items()}


def _reached(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs

        files, root = url_to_fs(url)
        files.exists(root)
    except (ImportError, ValueError, OSError) as error:
        raise StackcostError(
            f"cannot reach {url}: {error}",
            "pip install 'stackcost[store]', and what fsspec needs for this kind of URL "
            "(s3fs for s3://, gcsfs for gs://)",
        ) from error
    return files, str(root)
