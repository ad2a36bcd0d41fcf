"""How long to wait for a part before it counts as hung: limits in seconds, times one factor.

The limits are for a machine that is as fast as most. A slow host needs all of them longer, so an
experiment has one setting, `timeout_factor`, and no part has a setting of its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager

_factor = 1.0


def scaled_timeout(seconds: float) -> float:
    """A limit as it is in force, in seconds; for all threads of this process."""
    return seconds * _factor


@contextmanager
def timeout_factor(factor: float) -> Iterator[None]:
    """Within it every limit is `factor` times as long."""
    global _factor
    before, _factor = _factor, factor
    try:
        yield
    finally:
        _factor = before


def on_a_slow_host() -> str:
    """What to change when a limit was too short; to be the `hint` of the error that reports it."""
    return f"on a slow host, set `timeout_factor: {2 * _factor:g}` in the experiment file"
