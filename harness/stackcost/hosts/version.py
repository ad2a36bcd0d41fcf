"""The version of the suite that two hosts must share."""

import hashlib
from functools import cache
from importlib import metadata

from stackcost.files import DUTS, PACKAGE, PACKED, SERVERS


@cache
def suite_version() -> str:
    """The version of the package, and a hash of its Python files.

    The two ends exchange types of this code, so the same number with other code is another version:
    a checkout that was changed, for example. Files of experiments and profiles do not count.
    """
    digest = hashlib.sha256()
    for folder in (PACKAGE, SERVERS, DUTS):
        for path in sorted(folder.rglob("*.py")):
            if folder != PACKAGE or PACKED not in path.parents:
                digest.update(path.read_bytes())
    return f"{metadata.version('stackcost')}+{digest.hexdigest()[:12]}"
