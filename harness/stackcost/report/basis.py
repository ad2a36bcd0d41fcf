"""The basis of a run's results: a digest of the program, and of the run's stored files.

A file of the run counts by its name, length and moment of writing: to read them all again would
take as long as to compute. Of the program every file counts by its content.
"""

from hashlib import sha256

from stackcost.files import PACKAGE
from stackcost.store import RunFolder

PARTS = ("contracts", "host", "store", "analysis", "report")  # all that reads a run


def basis_of(run: RunFolder, program: bytes = b"") -> str:
    """Digest of the files from which a run's results are computed.

    `program`: `program_digest()`, for a caller that has many runs.
    """
    digest = sha256(program or program_digest())
    for path in run.stored_files():
        stat = path.stat()
        digest.update(f"{path.name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def program_digest() -> bytes:
    """Digest of the program's files on which results depend."""
    digest = sha256()
    patterns = ["*.py", *(f"{part}/**/*.{kind}" for part in PARTS for kind in ("py", "yaml"))]
    for path in sorted(path for pattern in patterns for path in PACKAGE.glob(pattern)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(PACKAGE)} {len(content)}\n".encode() + content)
    return digest.digest()
