"""The results of a stored run: computed from its files, and stored while they are current.

Results depend only on the program and on a run's stored files, so they contain the digest of both
(`basis_of`). Stored ones are current as long as it has not changed.
"""

import sys
from hashlib import sha256
from shlex import quote

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.words import count
from stackcost.files import PACKAGE
from stackcost.report.results.opened import FORMS, AnySummary
from stackcost.report.results.stored import summarised, summary_of
from stackcost.store import RunFolder

PARTS = ("contracts", "host", "store", "analysis", "report/results")  # all that computes results


def say(doing: str) -> None:
    """What a command does now, on the standard error output, so that answers can be piped."""
    print(f"stackcost {doing}", file=sys.stderr, flush=True)


def basis_of(run: RunFolder, program: bytes = b"") -> str:
    """Digest of the files from which a run's results are computed.

    A file of the run counts by its name, length and moment of writing: to read them all again would
    take as long as to compute. Of the program every file counts by its content.

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


def summarise_again(run: RunFolder) -> AnySummary:
    """Compute and write summary.json of any run again. StackcostError if it has no trial."""
    say(f"computing the results of {run.path} from {count(run.count(), 'trial')}")
    summary = computed(run)
    run.write_summary(summary)
    return summary


def computed(run: RunFolder) -> AnySummary:
    """The summary of any run, from its trials. StackcostError if it has none."""
    basis = basis_of(run)  # first: a trial that comes meanwhile may not be in it
    return _computed(run).model_copy(update={"basis": basis})


def _computed(run: RunFolder) -> AnySummary:
    kind = run.manifest().kind
    if kind == "costs":
        return summary_of(run)
    if kind == "events":
        from stackcost.analysis.device.event_summary import summarise_events

        return summarised(run, summarise_events)
    from stackcost.analysis.ceiling.summarise import summarise_ceilings

    return summarised(run, summarise_ceilings)


def stored_answer(run: RunFolder) -> AnySummary | None:
    """The stored results of a run; None if there are none, or they are not current or damaged."""
    try:
        stored = run.summary()
        if stored.get("basis") != basis_of(run):
            return None
        return FORMS[run.manifest().kind].model_validate(stored)
    except (StackcostError, ValueError, TypeError):
        return None


def current(run: RunFolder) -> AnySummary:
    """The summary of any run: the stored one if it is current, else from its trials."""
    if found := stored_answer(run):
        return found
    say(
        f"computing the results of {run.path}, because no current ones are stored; "
        f"to store them: stackcost report {quote(str(run.path))}"
    )
    return computed(run)
