"""Devices of a user's own; `test_known_costs.py` measures the example from another folder."""

import subprocess
from pathlib import Path

from stackcost.duts.base import Dut
from stackcost.experiment.read_file import read_experiment
from stackcost.servers.registry import server_class

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_example_is_an_experiment_beside_the_suites_own_paths() -> None:
    experiment = read_experiment(EXAMPLES / "path.yaml", True)
    assert server_class(experiment.servers[-1]).name == "path"
    assert experiment.dut.server == "nginx"


def test_an_error_of_nft_names_the_line_of_the_rules() -> None:
    """It named the line after it."""
    said = []

    class Site(Dut):
        def __init__(self) -> None:
            pass

        def ruleset(self) -> str:
            return "# mine\ntable ip t {\n  chain c { acceptt }\n}\n"

        def execute(self, *command: str, stdin: str = "") -> str:
            done = subprocess.run(
                [*command, "--check"], input=stdin, capture_output=True, text=True
            )
            said.append(done.stderr)
            return done.stdout

    Site().apply_rules()
    assert said[0].startswith("/dev/stdin:3:")
