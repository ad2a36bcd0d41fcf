"""Real runs as older versions stored them, with samples and with the answer of their time.

`untyped`: a part of an interrupted run, of before loads had a kind. `judged`: a whole small run, of
before flags were left to reading.
"""

from pathlib import Path

STORED = Path(__file__).resolve().parents[1] / "fixtures" / "stored"
UNTYPED, JUDGED = STORED / "untyped", STORED / "judged"
BOTH = (UNTYPED, JUDGED)
