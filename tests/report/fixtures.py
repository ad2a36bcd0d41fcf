"""Stored runs kept among the tests: real ones, measured by the suite, without their samples."""

from pathlib import Path

RUNS = Path(__file__).resolve().parents[1] / "fixtures" / "runs"
COSTS = [RUNS / "published", RUNS / "stock"]
ALL = sorted(path.parent for path in RUNS.glob("*/manifest.json"))
