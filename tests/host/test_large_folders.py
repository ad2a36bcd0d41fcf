"""Large folders, which are removed even after a run is killed."""

from pathlib import Path

import pytest

from stackcost.host import large_folders
from stackcost.host import state as testbed_state


def test_they_are_removed_after_any_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, folder, other = (tmp_path / name for name in ("state", "run/cache", "run/logs"))
    monkeypatch.setattr(testbed_state, "state_folder", lambda: state)
    state.mkdir()
    other.mkdir(parents=True)
    assert large_folders.remove() == []
    large_folders.make(folder)
    (folder / "object").write_text("of a run that was killed")
    large_folders.make(folder)
    assert not list(folder.iterdir()), "each begins empty"
    (folder / "object").write_text("of another")
    (step,) = large_folders.remove()
    assert step.done and str(folder) in step.what
    assert not folder.exists() and other.exists() and large_folders.remove() == []
