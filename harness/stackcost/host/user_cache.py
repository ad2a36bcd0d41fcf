"""The user's cache folder: what can be made again at any time (XDG Base Directory)."""

import os
from hashlib import sha256
from pathlib import Path


def user_cache(what: str, of: bytes) -> Path:
    """A folder for `what` was made of something, such as a folder's path; it need not exist."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    return cache / "stackcost" / what / sha256(of).hexdigest()[:20]
