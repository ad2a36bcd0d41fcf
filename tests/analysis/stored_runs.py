"""Real runs with their samples and their answer: a part of an interrupted one, and a small one."""

from pathlib import Path

STORED = Path(__file__).resolve().parents[1] / "fixtures" / "stored"
INTERRUPTED, SMALL = STORED / "interrupted", STORED / "small"
