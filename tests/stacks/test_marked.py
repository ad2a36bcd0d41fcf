"""A trial that another stack carried than was wanted: stored, marked, in no figure."""

from pathlib import Path

import pytest

from stackcost.contracts.counts import Clock, StackCheck
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.trial import Trial
from stackcost.runs.campaign import require_wanted_stack, storing
from stackcost.stacks.onload.installation import Installation
from stackcost.store import RunFolder
from tests.analysis.trials import load_trial


class FallenBack:
    """A server whose stack says that it was not the one, and the session with it."""

    def __init__(self) -> None:
        self.serving = self
        self.observations: list[str] = []

    def check_stack(self, when: str) -> None:
        self.observations.append(when)

    def clocks(self) -> dict[str, Clock]:
        return {}

    def before_trial(self) -> dict[str, float]:
        return {}

    def stack_check(self, idle: bool) -> StackCheck:
        carried = "onload-balanced" if idle else "kernel"
        return StackCheck("onload-balanced", carried, "" if idle else "no counter moved")

    def check_parts(self) -> None:
        """All of it lives."""


def test_a_trial_that_fell_back_is_kept_as_the_kernels(tmp_path: Path) -> None:
    run, session = RunFolder.create(tmp_path, "fallen"), FallenBack()
    trial: Trial = load_trial()
    with storing(run, session, trial):  # type: ignore[arg-type]
        pass
    (stored,) = run.trials()
    assert session.observations == ["before", "after"]
    assert stored.set_aside.startswith("carried by the kernel's stack instead of onload-balanced")
    with pytest.raises(StackcostError, match="instead of onload-balanced: no counter moved"):
        require_wanted_stack(stored)


@pytest.mark.parametrize(("opened", "aside"), [(0, False), (1, True)])
def test_a_load_that_opened_no_connection_is_idle(tmp_path: Path, opened: int, aside: bool) -> None:
    """No counter of a stack can grow then, and its polls are still to be told."""
    run, trial = RunFolder.create(tmp_path, "idle"), load_trial(offered=0.01, completed=opened)
    with storing(run, FallenBack(), trial):  # type: ignore[arg-type]
        pass
    (stored,) = run.trials()
    assert bool(stored.set_aside) == aside


def test_what_is_missing_is_reported_part_by_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "proc").mkdir()
    told = Installation(tmp_path).lacks()
    assert "a kernel with loadable modules (there is no /proc/modules)" in told
    assert "its programs (no onload, onload_stackdump" in told
    (tmp_path / "proc/modules").touch()
    (tmp_path / "sys/module/onload").mkdir(parents=True)
    *_, last = Installation(tmp_path).missing()
    assert last.part == "/dev/onload" and "reload" in last.hint
