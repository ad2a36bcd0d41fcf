"""What sampling stacks takes of a core, quickly; `script/bench selfcheck` is exact."""

import pytest

from engine.bench.tools.selfcheck.sampling_cost import check_sampling
from stackcost.collect import stack_samples

pytestmark = [pytest.mark.bed, pytest.mark.long]


def test_the_time_of_the_sampling_interrupts_is_seen_and_grows_with_their_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = check_sampling(3, piece_s=0.5)
    monkeypatch.setattr(stack_samples, "PERIOD_NS", (200_000, 300_000))
    often = check_sampling(3, piece_s=0.5)
    assert usual.ratio.median is not None and often.ratio.median is not None
    assert usual.ratio.median > 1, "samples take time"
    assert often.ratio.median - 1 > 3 * (usual.ratio.median - 1), "ten times as many take more"
