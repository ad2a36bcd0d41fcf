"""The record of a run: whatever ends it, its folder says how, and keeps its trials."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from harness.session.server_session import ServerSession
from stackcost.analysis.machines import differences
from stackcost.collect.machine import describe_machine
from stackcost.contracts.errors import StackcostError
from stackcost.store import Manifest, RunFolder
from stackcost.store.manifest import utc_now


@contextmanager
def recorded(run: RunFolder, manifest: Manifest, go_on: str) -> Iterator[None]:
    """Write the manifest on entry, and on exit with how the run ended; Ctrl-C ends it in order.

    `go_on`: what a person does with the trials of a run that failed. Of a run that failed before
    its first trial nothing is kept.
    """
    run.write_manifest(manifest)
    try:
        yield
        manifest.state = "complete"
    except KeyboardInterrupt:
        manifest.state = "interrupted"
    except StackcostError as error:
        manifest.state, manifest.failure = "failed", error.what
        raise _with_folder(error, run, go_on) from error
    except BaseException as error:  # an error of ours
        manifest.state, manifest.failure = "failed", repr(error)
        raise
    finally:
        _finish(run, manifest)


def record_session(run: RunFolder, manifest: Manifest, system: str, session: ServerSession) -> None:
    """Put into the manifest what a system runs on; the same in every round."""
    described = session.describe()
    manifest.test_bed[system] = described["test_bed"]
    manifest.servers[system] = described["server"]
    manifest.servers["generator"] = described["generator"]
    run.write_manifest(manifest)


def _with_folder(error: StackcostError, run: RunFolder, go_on: str) -> StackcostError:
    """The error, and where the trials before it are."""
    if not run.count():
        return error
    kept = f"the trials before it are kept, {go_on} {run.path}"
    return StackcostError(error.what, f"{error.mend}; {kept}" if error.mend else kept)


def _finish(run: RunFolder, manifest: Manifest) -> None:
    if manifest.state == "failed" and not run.count():
        shutil.rmtree(run.path)
        return
    run.give_back_reserve()
    manifest.finished = utc_now()
    manifest.machine_after = describe_machine()
    manifest.changed = differences(manifest.machine, manifest.machine_after)
    run.write_manifest(manifest)
