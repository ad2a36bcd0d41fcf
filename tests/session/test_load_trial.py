"""How long a load goes on: beyond its window, for what is to be read under load."""

from pathlib import Path
from typing import Any

import pytest

from stackcost.experiment.profile_load import LoadSection
from stackcost.host.timeouts import timeout_factor
from stackcost.runs.loads.constant import offer_load
from tests.analysis.trials import load_trial


class Started(Exception):
    """A load was to be started."""


class Beginning:
    """A session, its sides and its sampler, until the load is to start."""

    def __init__(self) -> None:
        self.serving = self.generator = self.sampler = self.wiring = self
        self.tested: list[Any] = []

    def requests_served(self) -> int:
        return 0

    def refusals(self) -> dict[str, int]:
        return {}

    def frames(self) -> list[Any]:
        return []

    def begin_trial(self) -> None:
        """Nothing was read before."""

    def trial_samples(self) -> list[Any]:
        return []

    def read_often(self, interval_s: float) -> None:
        """Nothing is read."""

    def start(self, mult: float, duration: float) -> None:
        raise Started(duration)


@pytest.mark.parametrize(("factor", "seconds"), [(1, 12.5), (5, 14.5)])
def test_a_slow_host_is_read_under_load_too(factor: float, seconds: float) -> None:
    part = LoadSection(profile=Path("p.py"), offered_cps=[20], warm_up_s=4, sustain_s=8, drain_s=5)
    with timeout_factor(factor), pytest.raises(Started) as started:
        offer_load(Beginning(), load_trial(), part)  # type: ignore[arg-type]
    assert started.value.args == (seconds,)
