"""Writes the JSON schemas of the stored files: python -m stackcost.cli.schema FOLDER."""

import json
import re
import sys
from pathlib import Path

from pydantic import BaseModel

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.device.event_summary import EventSummary
from stackcost.analysis.figures import registry
from stackcost.analysis.figures.figure import Of
from stackcost.analysis.figures.rates import OFFERED
from stackcost.analysis.summary import Summary
from stackcost.experiment.schema import Experiment
from stackcost.store.manifest import Manifest

# The parts of each summary that have figures, and what these are of.
SECTIONS: tuple[tuple[str, str, tuple[Of, ...]], ...] = (
    ("summary", "Level", ("load", "http", "device", "gate")),
    ("summary", "Memory", ("memory",)),
    ("ceiling", "Figures", ("ceiling",)),
    ("events", "EventResult", ("event", "device")),
    ("events", "MixResult", ("device",)),
    ("events", "MixStepResult", ("device",)),
)


def schemas() -> dict[str, str]:
    """Text of each schema file, by file name."""
    models: dict[str, type[BaseModel]] = {
        "experiment": Experiment,
        "manifest": Manifest,
        "summary": Summary,
        "ceiling": CeilingSummary,
        "events": EventSummary,
    }
    found = {name: model.model_json_schema() for name, model in models.items()}
    for name, section, groups in SECTIONS:
        figures = found[name]["$defs"][section]["properties"]["figures"]
        figures["patternProperties"] = {
            rf"^{re.escape(each.name)}(\..+)?$": {
                "$ref": "#/$defs/Spread",
                "description": f"{each.unit}: {each.definition}",
            }
            for each in registry.ALL
            if each.of in groups and each is not OFFERED
        }
    return {
        f"{name}.schema.json": json.dumps(each, indent=2) + "\n" for name, each in found.items()
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in schemas().items():
        (folder / file).write_text(text)
