"""What an experiment may say of HTTP clients, and what `auto` becomes."""

from pathlib import Path

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.harness.comparison.plan import plan
from stackcost.harness.experiment.load_file import load_experiment
from stackcost.harness.experiment.matrix import variants
from stackcost.harness.experiment.shares import doublings, resolve_auto
from stackcost.host.cores import allowed_cores, harness_on

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
COOKBOOK = EXPERIMENTS / "nginx_cookbook.yaml"


def edited(folder: Path, old: str, new: str) -> Path:
    text = COOKBOOK.read_text()
    assert old in text
    path = folder / "edited.yaml"
    path.write_text(text.replace(old, new))
    return path


def test_doublings_end_with_all() -> None:
    assert doublings(1) == [1] and doublings(6) == [1, 2, 4, 6] and doublings(8) == [1, 2, 4, 8]


def test_auto_is_what_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "stackcost.harness.experiment.shares.allowed_cores", lambda: list(range(12))
    )
    found = resolve_auto(
        {
            "cores": "auto",
            "matrix": {"workers": "auto", "cores": [1, 3]},
            "http": {"processes": "auto"},
        }
    )
    assert found["cores"] == {"load": [0, 1, 2, 3, 4, 5], "server": [6, 7, 8, 9, 10, 11]}
    assert found["matrix"] == {"workers": [1, 2, 4, 6], "cores": [1, 3]}
    assert found["http"] == {"processes": 6}


def test_auto_is_of_the_machine_also_where_a_bed_keeps_this_process_to_one_core() -> None:
    with harness_on([0]):
        assert resolve_auto({"cores": "auto"})["cores"]["server"], "there is another core"


def test_shared_cores_are_all_of_them_for_both_and_for_programs_alone(tmp_path: Path) -> None:
    shared = load_experiment(COOKBOOK, share_cores=True)
    here = allowed_cores()
    assert shared.cores.load == shared.cores.server == here and shared.cores.common == here
    assert shared.matrix.workers[-1] == len(here)
    assert all(each.experiment.cores.common for each in variants(shared))
    with pytest.raises(StackcostError, match="only HTTP clients"):
        load_experiment(EXPERIMENTS / "nginx_kernel.yaml", share_cores=True)
    with pytest.raises(StackcostError, match=r"would use cores \[0\]"):
        load_experiment(edited(tmp_path, "cores: auto", "cores: {load: [0], server: [0]}"))


def test_the_cookbook_has_every_test_of_its_tables_for_every_system() -> None:
    experiment = load_experiment(COOKBOOK)
    measured = [each for each in variants(experiment) if not each.lacking]
    trials = [trial for turn in plan(experiment) for trial in turn.trials]
    assert experiment.http is not None
    assert len(trials) == experiment.rounds * len(measured) * len(experiment.http.tests)
    assert {"tps", "tps-tls", "rps-0k", "rps-100k", "thr-100m"} <= {
        trial.load.test for trial in trials
    }
    lacking = [each for each in variants(experiment) if each.lacking]
    assert all("onload" in each.name for each in lacking)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("program: wrk", "program: curl", "program"),
        ("name: tps-tls", "name: tps", "two tests have the same name"),
        (
            "body_bytes: 1000 }",
            "body_bytes: 1000, rates: [100] }",
            "only h2load can send at a rate",
        ),
        ("program: wrk\n", "program: ab\n  x: 1\n", "http.x"),
        ("measures: connections, body_bytes: 0 }", "body_bytes: 0 }", "measures"),
        ("http:\n  program: wrk", "load: {profile: x.py}\nhttp:\n  program: wrk", "load.warm_up_s"),
    ],
)
def test_what_is_wrong_is_reported(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(StackcostError, match=told):
        load_experiment(edited(tmp_path, old, new))


def test_either_profiles_or_http(tmp_path: Path) -> None:
    text = COOKBOOK.read_text()
    path = tmp_path / "none.yaml"
    path.write_text(text[: text.index("http:")])
    with pytest.raises(StackcostError, match="it needs one kind of load"):
        load_experiment(path)
