"""The examples are a start for files of the reader's own: they work wherever they are copied to."""

import shutil
from pathlib import Path

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.read_file import read_experiment
from stackcost.files import EXAMPLES, PROFILES


@pytest.mark.parametrize("example", ["tutorial/mine.yaml", "haproxy.yaml"])
def test_a_copy_finds_the_profiles_of_the_suite(example: str, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "copied")
    experiment = read_experiment(tmp_path / "copied" / example)
    assert experiment.load.profile == (PROFILES / "http_program.py").resolve()
    assert experiment.memory.profile == (PROFILES / "http_hold.py").resolve()


def test_a_file_of_the_reader_comes_first_and_a_missing_one_is_reported(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "tutorial", tmp_path, dirs_exist_ok=True)
    own = tmp_path / "http_program.py"
    shutil.copy(PROFILES / "http_program.py", own)
    experiment = tmp_path / "mine.yaml"
    assert read_experiment(experiment).load.profile == own
    experiment.write_text(experiment.read_text().replace("http_hold.py", "hold.py"))
    with pytest.raises(StackcostError, match=r"memory\.profile: there is no file .*/hold\.py") as e:
        read_experiment(experiment)
    assert "http_hold.py" in e.value.hint
