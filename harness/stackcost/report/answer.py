"""The results of a stored run: computed from its files, stored, printed and rendered.

Results depend only on the program and on a run's stored files, so they contain the digest of both
(`basis_of`). Stored ones are current as long as it has not changed.
"""

from hashlib import sha256
from shlex import quote

from rich.console import Console

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.summary import Summary
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.words import count
from stackcost.files import PACKAGE
from stackcost.report.ceiling import ceilings_of, print_ceilings
from stackcost.report.congestion import congestion_sentence
from stackcost.report.console import say
from stackcost.report.extra import can_render
from stackcost.report.opened import FORMS, AnySummary
from stackcost.report.stored import summary_of
from stackcost.report.terminal import print_long, print_screen
from stackcost.store import RunFolder

PARTS = ("contracts", "host", "store", "analysis", "report")  # all that reads a run


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


def answer(run: RunFolder, console: Console) -> AnySummary:
    """Write summary.json and report.html into the run's folder, and print the results.

    It needs only the folder, so it works on any stored run, even on one that was cut short.
    StackcostError if it has no trial. Without the extra `notebooks` there is no report.html.
    """
    summary = summarise_again(run)
    print_answer(summary, console)
    if can_render(console):
        from stackcost.report.notebook import render

        render([run.path], run.path / "report.html")
    return summary


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
    if kind == "events":
        from stackcost.report.device import events_of

        return events_of(run)
    return ceilings_of(run) if kind == "ceilings" else summary_of(run)


def stored_answer(run: RunFolder) -> AnySummary | None:
    """The stored results of a run; None if there are none, or they are not current or damaged."""
    try:
        stored = run.summary()
        if stored.get("basis") != basis_of(run):
            return None
        form, _ = FORMS[run.manifest().kind]
        return form.model_validate(stored)
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


def print_answer(summary: AnySummary, console: Console, long: bool = False) -> None:
    """Print tables or sentences on one screen, depending on the run; `long`: every table."""
    if isinstance(summary, Summary):
        print_screen(summary, console)
        if long:
            print_long(summary, console)
    elif isinstance(summary, CeilingSummary):
        print_ceilings(summary, console, long)
    else:
        from stackcost.report.device import print_events

        print_events(summary, console, long)
    if sentence := congestion_sentence(summary):
        console.print(sentence, highlight=False, markup=False, soft_wrap=True)
    for line in summary.damaged:
        console.print(f"damaged: {line}", highlight=False, markup=False)
