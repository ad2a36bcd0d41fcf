"""Two beds in a lab: plans of short cells, the beds' files, and what was stored."""

import json
from typing import Any

from tests.hosts.lab import Lab
from tests.hosts.test_on_bed import PLAN

SHORT = PLAN | {
    "load": PLAN["load"] | {"offered_cps": [200], "sustain_s": 1},
    "matrix": {"response_bytes": [400, 500, 1000, 2000]},
}
del SHORT["memory"]


def plan(lab: Lab, name: str, **changed: Any) -> str:
    file = lab.folder / f"{name}.yaml"
    file.write_text(json.dumps(SHORT | changed))
    return str(file)


def bed(lab: Lab, number: int) -> str:
    sides = {side: {"host": f"{at}{number}", "interfaces": ["nic0"]} for side, at in SIDES.items()}
    return plan(lab, f"bed{number}", hosts=lab.hosts(), bed=sides)


SIDES = {"load": "a", "server": "b"}


def records(lab: Lab) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in lab.folder.glob("results/*/cell.json")]
