"""The basis of a run's results: a digest of the program, and of the run's stored files.

A file of the run counts by its name, length and moment of writing: to read them all again would
take as long as to compute. Of the program every file counts by its content.
"""

from hashlib import sha256
from pathlib import Path

from stackcost.store import RunFolder

SUITE = Path(__file__).resolve().parents[2]
# What reads a run needs nothing else of ours, and stands so in a checkout and in a wheel.
PROGRAM = (
    *("stackcost/*.py", "stackcost/files/published/*.yaml"),
    *(f"stackcost/{part}/**/*.py" for part in ("contracts", "host", "store", "analysis", "report")),
)


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
    for path in sorted(path for pattern in PROGRAM for path in SUITE.glob(pattern)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(SUITE)} {len(content)}\n".encode() + content)
    return digest.digest()
