"""The published factors from their own raw data; expected values computed by hand."""

from pathlib import Path

import pytest

from stackcost.published.recomputed import read_publication, recompute
from stackcost.published.tables import published_answer

FILE = Path(__file__).resolve().parents[2] / "published" / "trex_nginx.yaml"


def test_the_claimed_80_is_29_by_busy_time() -> None:
    publication = read_publication(FILE)
    # us 45.5 + sy 205.0 + hi 19.0 + si 279.4, percent, over 32 logical CPUs.
    assert publication.cpu.busy_cpus == pytest.approx(5.489)
    found = recompute(publication)
    steps = [step for step in found.steps if step.of == "cpu"]
    assert [step.value for step in steps if step.unit == "1"] == pytest.approx(
        [80, 80 * 5.489 / 16, 80 * 5.489 / 16 / 0.847, 29.44], rel=1e-3
    )
    nginx, trex = (step.value for step in steps if step.unit == "cycles")
    assert nginx == pytest.approx(878_240) and trex == pytest.approx(29_827, rel=1e-4)
    assert found.last("cpu") == pytest.approx(nginx / trex), "two ways to the same factor"


def test_most_of_the_claimed_2000_is_what_nginx_takes_at_start() -> None:
    steps = [step for step in recompute(read_publication(FILE)).steps if step.of == "memory"]
    assert [step.value for step in steps if step.unit == "1"][-1] == steps[-1].value
    measured, rest = (step.value for step in steps[1:] if step.unit == "1")
    assert measured == pytest.approx(10e9 / 12_000 / 500)
    reserved, by_auto = (step for step in steps if step.unit == "B")
    assert reserved.value == pytest.approx(6.9e9, rel=0.01) and reserved.value > 0.5 * 10e9
    assert rest == pytest.approx((10e9 - reserved.value) / 12_000 / 500)
    # `auto` starts a worker for each of the 32 logical CPUs of top, which is more than there was.
    assert by_auto.value == pytest.approx(13.8e9, rel=0.01)
    assert "32 workers: more than all of it" in by_auto.what
    assert steps[-1].what == "without that of 16 workers, so at most" and steps[-1].at_most
    assert "raw data it is at most 515;" in published_answer(recompute(read_publication(FILE)), [])


def test_every_row_of_top_adds_up_to_a_whole_cpu() -> None:
    cpu = read_publication(FILE).cpu
    assert len(cpu.top) == 32
    assert all(sum(row) == pytest.approx(100, abs=0.5) for row in cpu.top)
