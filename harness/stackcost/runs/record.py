"""The record of a run. However the run ends, its folder keeps its trials and says how it ended."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from shlex import quote
from typing import Any

from rich.console import Console

from stackcost.analysis.comparing.machines import differences
from stackcost.bed.local import check_root
from stackcost.bed.lock import RunLock, locked_file
from stackcost.collect.machine import describe_machine
from stackcost.contracts.errors import StackcostError
from stackcost.host.signals import ending_signals_held, ending_signals_raise
from stackcost.host.taken_cores import look
from stackcost.runs import own_runs
from stackcost.runs.campaign import Campaign, next_number
from stackcost.runs.identity import check_resumable
from stackcost.runs.observers import tell_waiting
from stackcost.runs.shown import shown
from stackcost.runs.warnings import LOOKED_S, words_before
from stackcost.session.progress import Progress
from stackcost.store import Manifest, RunFolder
from stackcost.store.manifest import CoresTaken, Resumption, utc_now

LOCK_IN_USE = "waiting for the lock of this machine: one run at a time"
SEE = "to see them, run: stackcost report"


@contextmanager
def new_campaign(
    results: Path,
    name: str,
    command: list[str],
    console: Console,
    hint: str = SEE,
    here: bool = True,
    needs_root: bool = True,
    **about: Any,
) -> Iterator[Campaign]:
    """Begin a new run in `results`, and record how the run ends.

    `here`: a part of its test bed is on this machine, which is then locked for this run. Other
    hosts are locked by their agents.

    After Ctrl-C, SIGTERM or SIGHUP the body ends, the manifest says "interrupted", and no exception
    is raised, unless one more comes while this is written. `hint`: the command for the trials of a
    failed run. If a run fails before its first trial, its folder is deleted. `about`: further
    fields of the manifest. StackcostError without root where `needs_root`, and if another run is
    active.
    """
    if needs_root:
        check_root()
    RunFolder.check_place(results)
    tell_waiting(LOCK_IN_USE)
    locked = RunLock() if here else nullcontext()
    with locked, ending_signals_raise(), shown(console) as progress:
        taken = _look(progress) if here else None
        machine = describe_machine()
        folder = RunFolder.create(results, name)
        own_runs.RUNS.append(folder)
        manifest = Manifest(
            run=folder.name, command=command, machine=machine, cores_taken=taken, **about
        )
        campaign = Campaign(folder, manifest, progress)
        with _recorded(campaign, hint):
            yield campaign


@contextmanager
def resumed_campaign(
    folder: RunFolder, command: list[str], console: Console, hint: str = SEE
) -> Iterator[Campaign]:
    """Resume a run that was interrupted, failed or was killed; otherwise like `new_campaign`.

    New trials get higher numbers. StackcostError if the run is complete, or if it would no longer
    be the same run: see harness/stackcost/runs/identity.py.
    """
    machine = describe_machine()
    experiment = check_resumable(folder.manifest(), machine)
    if not experiment.counted:
        check_root()
    here = experiment.uses_this_machine
    tell_waiting(LOCK_IN_USE)
    locked = RunLock() if here else locked_file(folder.path / "lock", f"{folder.name} is resumed")
    with locked, ending_signals_raise(), shown(console) as progress:
        taken = _look(progress) if here else None
        manifest = folder.manifest()
        stored = folder.trials()
        resumption = Resumption(
            command=command,
            first_trial=next_number(folder, stored),
            changed=differences(manifest.machine, machine),
            cores_taken=taken,
        )
        manifest.resumed.append(resumption)
        manifest.state, manifest.finished, manifest.failure = "running", None, ""
        folder.reserve()
        own_runs.RUNS.append(folder)
        campaign = Campaign(folder, manifest, progress, stored)
        with _recorded(campaign, hint):
            yield campaign


def _look(progress: Progress) -> CoresTaken:
    """What takes this machine's cores before the first bed; the user is told if it is much."""
    looking = f"looking for {LOOKED_S:g} s at what takes the cores"
    tell_waiting(looking)
    progress.say(looking)
    taken = look(LOOKED_S)
    if words := words_before(taken):
        progress.note(words)
    return CoresTaken(
        seconds=taken.seconds,
        cores=dict(taken.shares),
        programs={f"{each.command} (pid {each.process})": each.cores for each in taken.programs},
    )


@contextmanager
def _recorded(campaign: Campaign, hint: str) -> Iterator[None]:
    """Write the manifest on entry, and on exit with how the run ended."""
    folder, manifest = campaign.folder, campaign.manifest
    try:
        folder.write_manifest(manifest)
        yield
        manifest.state = "complete"
    except KeyboardInterrupt:
        manifest.state = "interrupted"
    except StackcostError as error:
        manifest.state, manifest.failure = "failed", error.what
        raise _with_folder(error, folder, hint) from error
    except BaseException as error:  # an error of ours
        manifest.state, manifest.failure = "failed", repr(error)
        raise
    finally:
        with ending_signals_held():  # a second Ctrl-C must not cut the record short
            if manifest.state == "running":  # it came before the line that says "interrupted"
                manifest.state = "interrupted"
            _finish(folder, manifest)


def _with_folder(error: StackcostError, folder: RunFolder, hint: str) -> StackcostError:
    """The error, with the path of the trials that were finished before it."""
    if not folder.count():
        return error
    kept = f"earlier trials are kept; {hint} {quote(str(folder.path))}"
    return StackcostError(error.what, f"{error.hint}; {kept}" if error.hint else kept)


def _finish(folder: RunFolder, manifest: Manifest) -> None:
    if manifest.state == "failed" and not folder.count():
        shutil.rmtree(folder.path)
        return
    folder.give_back_reserve()
    manifest.finished = utc_now()
    manifest.machine_after = describe_machine()
    manifest.changed = differences(manifest.machine, manifest.machine_after)
    folder.write_manifest(manifest)
