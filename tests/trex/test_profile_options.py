"""Every option of every shipped profile has bounds, and an error names it."""

import ast
from pathlib import Path

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.trex.client import TrexClient
from tests.trex.conftest import PROFILES

FREE = {"group", "tcp", "rfc1323"}  # these have choices


def options(profile: Path) -> dict[str, str]:
    """Each option of a profile with the source text of its type."""
    found = {}
    for call in ast.walk(ast.parse(profile.read_text())):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "parser.add_argument":
            name = ast.literal_eval(call.args[0]).removeprefix("--")
            kinds = [word.value for word in call.keywords if word.arg == "type"]
            found[name] = ast.unparse(kinds[0]) if kinds else ""
    return found


def outside(kind: str) -> list[str]:
    """Values that an option of this type must refuse."""
    if kind.startswith("bounded"):
        _, least, most = kind.removeprefix("bounded(").rstrip(")").split(", ")
        return [str(int(float(least)) - 1), f"{float(most) * 10:.0f}", "nan", "many", ""]
    if kind == "address_range":
        return ["16.0.0.1", "16.0.0.9-16.0.0.1", "16.0.0.1-16.0.0.256", "::1-::2", ""]
    assert kind == "ipv6_prefix"
    return ["16.0.0.1", "fd00::1", "x"]


CASES = [
    (profile.name, option, value)
    for profile in sorted(PROFILES.glob("*.py"))
    for option, kind in options(profile).items()
    if option not in FREE
    for value in outside(kind)
]


def test_every_option_refuses_a_value_out_of_its_bounds_by_name(client: TrexClient) -> None:
    assert {name for name, _, _ in CASES} == {path.name for path in PROFILES.glob("*.py")}
    taken = []
    for name, option, value in CASES:
        try:
            client.profile_json(PROFILES / name, {option: value})
            taken.append((name, option, value, "taken"))
        except StackcostError as error:
            if f"argument --{option}: " not in str(error):
                taken.append((name, option, value, str(error)))
    assert taken == []


@pytest.mark.parametrize(
    ("tunables", "names"),
    [
        ({"group": "established", "seconds": 1, "pause_seconds": 2}, "seconds"),
        ({"group": "half_open", "hold_seconds": 0.5}, "hold_seconds"),
    ],
)
def test_options_that_do_not_fit_each_other_are_named(
    client: TrexClient, tunables: dict[str, object], names: str
) -> None:
    with pytest.raises(StackcostError, match=names):
        client.profile_json(PROFILES / "state_exhaustion.py", tunables)


def test_all_profiles_check_in_the_same_way() -> None:
    for function in ("bounded", "address_range", "ipv6_prefix"):
        texts = {
            ast.unparse(each)
            for profile in PROFILES.glob("*.py")
            for each in ast.parse(profile.read_text()).body
            if isinstance(each, ast.FunctionDef) and each.name == function
        }
        assert len(texts) == 1
