"""The version of the suite that two hosts must share."""

import hashlib
import os
from functools import cache
from importlib import metadata
from pathlib import Path

import stackcost


@cache
def suite_version() -> str:
    """The version of the package, and a hash of its Python files.

    The two ends exchange types of this code, so the same number with other code is another version:
    a checkout that was changed, for example. Files of experiments and profiles do not count.
    """
    root = Path(stackcost.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(_sources(root)):
        digest.update(path.read_bytes())
    return f"{metadata.version('stackcost')}+{digest.hexdigest()[:12]}"


def _sources(root: Path) -> list[Path]:
    """The package's own files. In a checkout some of its folders are links."""
    found = []
    for folder, folders, files in os.walk(root, followlinks=True):
        if Path(folder) == root:
            folders.remove("files")
        found += [Path(folder, name) for name in files if name.endswith(".py")]
    return found
