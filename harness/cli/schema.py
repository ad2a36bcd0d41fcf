"""Writes the published JSON schemas to docs/schema: python -m harness.cli.schema."""

import json
from pathlib import Path

from pydantic import BaseModel

from harness.experiment.schema import Experiment
from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.summary import Summary
from stackcost.store.manifest import Manifest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "schema"


def schemas() -> dict[str, str]:
    """Text of each schema file, by file name."""
    models: dict[str, type[BaseModel]] = {
        "experiment": Experiment,
        "manifest": Manifest,
        "summary": Summary,
        "ceiling": CeilingSummary,
    }
    return {
        f"{name}.schema.json": json.dumps(model.model_json_schema(), indent=2) + "\n"
        for name, model in models.items()
    }


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file, text in schemas().items():
        (FOLDER / file).write_text(text)
