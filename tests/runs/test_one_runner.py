"""Every kind of run uses the one runner: no other module does its part of the work."""

import ast
from collections.abc import Iterator
from pathlib import Path

HARNESS = Path(__file__).resolve().parents[2] / "harness" / "stackcost"
RUNNER = {HARNESS / "runs" / name for name in ("campaign.py", "record.py", "shown.py", "turn.py")}
# What belongs to the campaign alone, by the name that a call has in the code.
OWN = {
    "Manifest": "makes a manifest",
    "write_manifest": "writes a manifest",
    "RunFolder.create": "makes a run's folder",
    "add_trial": "stores a trial",
    "next_number": "numbers trials",
    "as_planned": "numbers trials",
    "Progress": "shows a run's progress",
    "storing": "stores a trial",
    "open_profile_session": "opens a session",
    "open_http_session": "opens a session",
    "describe_machine": "describes the machine for a manifest",
}
# The gate's history names the machine, too, and the agent of another host tells its own.
ALSO = {
    ("gate/measure.py", "describe_machine"),
    ("hosts/agent.py", "describe_machine"),
}


def calls(path: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield node


def name_of(call: ast.Call) -> str:
    """Of a method the name alone, of one of a class we know both."""
    words = ast.unparse(call.func)
    return words if words in OWN else words.rpartition(".")[2]


def numbers_a_trial(call: ast.Call) -> bool:
    """A planned trial has the number 0; the campaign gives it another."""
    if name_of(call) != "Trial":
        return False
    number = call.args[1] if len(call.args) > 1 else None
    return not (isinstance(number, ast.Constant) and number.value == 0)


def others() -> list[Path]:
    found = [path for path in HARNESS.rglob("*.py") if path not in RUNNER]
    assert len(found) > 80
    return found


def test_only_the_campaign_makes_manifests_stores_or_shows_progress() -> None:
    seen = [
        f"{place}:{call.lineno} {OWN[name]}"
        for path in others()
        for call in calls(path)
        if (name := name_of(call)) in OWN
        and (((place := str(path.relative_to(HARNESS))), name) not in ALSO)
    ]
    assert seen == []


def test_only_the_campaign_numbers_trials() -> None:
    seen = [
        f"{path.relative_to(HARNESS)}:{call.lineno}"
        for path in others()
        for call in calls(path)
        if numbers_a_trial(call)
    ]
    assert seen == []
