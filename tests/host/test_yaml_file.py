"""A YAML file of a user: each fault is one message with its line, and never a traceback."""

from pathlib import Path

import pytest

from stackcost.bed.tuning import tier_of
from stackcost.contracts.errors import StackcostError
from stackcost.experiment.read_file import read_experiment
from stackcost.host.yaml_file import DEEPEST, read_yaml

COMPARE = (Path(__file__).parents[2] / "experiments" / "compare.yaml").read_text()
NESTED = 20_000


def fault(text: str, folder: Path) -> str:
    """What an experiment file of this text is refused with."""
    file = folder / "broken.yaml"
    file.write_text(text)
    with pytest.raises(StackcostError) as told:
        read_experiment(file)
    return told.value.what.removeprefix(f"{file} ")


def test_a_control_character_is_reported_with_its_line(tmp_path: Path) -> None:
    text = COMPARE.replace("rounds: 4", "rounds: 4 \x07")
    line = COMPARE[: COMPARE.index("rounds: 4")].count("\n") + 1
    told = f"line {line}: not YAML: the character '\\x07' is not allowed"
    assert fault(text, tmp_path) == told
    file = tmp_path / "tier.yaml"
    file.write_text("title: a \x07 tier\n")
    with pytest.raises(StackcostError, match="line 1: not YAML: the character"):
        tier_of(str(file))


@pytest.mark.parametrize(
    "nested", ["[" * NESTED, "{a: " * NESTED, "- " * NESTED + "x"], ids=["lists", "maps", "blocks"]
)
def test_deep_nesting_is_reported_with_its_line(nested: str, tmp_path: Path) -> None:
    text = COMPARE + f"\nextra: {nested}\n" if nested[0] != "-" else nested
    line = text.count("\n") if nested[0] != "-" else 1
    assert fault(text, tmp_path) == f"line {line}: nested deeper than {DEEPEST} levels"


def test_what_is_nested_less_is_read(tmp_path: Path) -> None:
    file = tmp_path / "deep.yaml"
    file.write_text("[" * DEEPEST + "]" * DEEPEST)
    assert isinstance(read_yaml(file, "the file"), list)
