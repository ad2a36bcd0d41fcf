"""Ratios of HTTP clients' figures are of the same rounds, whatever is unknown in others."""

from collections.abc import Sequence

import pytest

from stackcost.contracts.system import Setting, System
from stackcost.contracts.trial import Trial
from stackcost.report import http_figures, http_tables, http_tls
from stackcost.report.answers import http_answer
from stackcost.report.results.opened import OpenedRuns
from tests.analysis.http_trials import asked, summary
from tests.report.opened import opened, opened_costs


def rounds(test: str, rates: Sequence[float | None], tls: bool = False) -> list[Trial]:
    """A trial for each round from 1 on, in which so many were answered; None: it was not told."""
    trials = [asked("wrk", 100, test, 0, rate or 0.0) for rate in rates]
    for number, (trial, rate) in enumerate(zip(trials, rates, strict=True), 1):
        trial.round = number
        trial.load.settings.tls, trial.load.settings.measures = tls, "connections"
        if rate is None:
            trial.load.counted = None
    return trials


@pytest.mark.parametrize(
    ("plain", "over_tls"),
    [
        ([1000, None, 4000], [500, 3000, None]),  # as many known, of other rounds
        ([1000, 2000, 4000], [500, None, None]),  # fewer known
    ],
)
def test_tls_is_divided_by_plain_of_its_own_round(
    plain: list[float | None], over_tls: list[float | None]
) -> None:
    (pair,) = http_tls.tls_pairs(summary(*rounds("tps", plain), *rounds("tps-tls", over_tls, True)))
    assert pair.rate.values == [0.5]


def test_so_is_one_system_by_another() -> None:
    first, second = rounds("tps", [1000, None, 4000]), rounds("tps", [1500, 3000, None])
    for trial in second:
        trial.server = "haproxy/onload"
    found = summary(*first, *second)
    (row,) = http_tables.tests_table(http_figures.series(found), found).rows
    assert row[-1] == "+50.0% (+50.0% to +50.0%) *", "neither side was busy"


@pytest.mark.parametrize(("settings", "axis"), [({}, ""), ({"workers": 1}, "1")])
def test_a_number_of_workers_is_told_only_where_the_name_has_it(
    settings: dict[str, Setting], axis: str
) -> None:
    """A plan's fixed number, such as `workers: 4`, is not in a summary: 1 would be a guess."""
    system = System.of("nginx/kernel", settings)
    trials = rounds("tps", [1000, 2000])
    for trial in trials:
        trial.server = system.name
    found = summary(*trials, systems=[system])
    table = http_tables.tests_table(http_figures.series(found), found)
    assert ("worker processes" in table.columns) == bool(axis)
    assert all(len(row) == len(table.columns) for row in table.rows)
    answer = http_answer(opened(found))
    assert ("worker process" in answer) == bool(axis)


def test_the_workers_of_a_system_are_one_column_in_a_report_of_several_runs() -> None:
    systems = [System.of("nginx/kernel", {"workers": number}) for number in (1, 2)]
    made = [*rounds("tps", [1000]), *rounds("tps", [1900])]
    for trial, system in zip(made, systems, strict=True):
        trial.server = system.name
    run = opened_costs(summary(*made, systems=systems))
    first, _ = OpenedRuns([run, run]).summaries
    (curve,) = http_figures.series(first)
    assert {name: [*points] for name, points in curve.points.items()} == {
        "run 1: nginx/kernel": [1, 2]
    }
    assert http_tables.systems([curve], first)[1:] == ["run 1: nginx-cache/kernel:aio-dlb"]
