"""Writes the published JSON schemas to docs/schema: python -m stackcost.harness.cli.schema."""

import json

from pydantic import BaseModel

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.summary import Summary
from stackcost.files import SCHEMAS
from stackcost.harness.experiment.schema import Experiment
from stackcost.store.manifest import Manifest


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
    SCHEMAS.mkdir(parents=True, exist_ok=True)
    for file, text in schemas().items():
        (SCHEMAS / file).write_text(text)
