"""The example of a path of a user's own; `test_known_costs.py` measures it from another folder."""

from pathlib import Path

from stackcost.experiment.read_file import read_experiment
from stackcost.servers.registry import server_class

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_example_is_an_experiment_beside_the_suites_own_paths() -> None:
    experiment = read_experiment(EXAMPLES / "path.yaml", True)
    assert server_class(experiment.servers[-1]).name == "path"
    assert experiment.dut.server == "nginx"
