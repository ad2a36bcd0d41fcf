"""What each kind of run feeds to the campaign, and what it makes of how its turns came out."""

import math
from itertools import islice
from pathlib import Path

import pytest

from stackcost.analysis.ceiling.controller import Bounds, SearchResult, search
from stackcost.analysis.ceiling.ramp import rising
from stackcost.analysis.ceiling.settings import settings_for
from stackcost.analysis.ceiling.stored import SearchKey
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.event_settings import EventSettings
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import read_experiment
from stackcost.runs import comparison, device
from stackcost.runs import search as ceilings
from stackcost.runs.campaign import Campaign
from stackcost.runs.search import Searched, SoFar, next_trial
from stackcost.runs.slowest import (
    BEFORE_THE_FIRST_ROUND,
    SHORTEST,
    Held,
    lowest_ceilings,
    why_none,
)
from stackcost.servers.registry import server_class
from stackcost.session.http_session import open_http_session
from stackcost.session.progress import Progress
from stackcost.store import Manifest, RunFolder
from tests.runs.made_up import COMPARE
from tests.search.simulated import Simulated

EXPERIMENTS = COMPARE.parent


@pytest.fixture
def progress() -> Progress:
    return Progress()


@pytest.fixture
def campaign(tmp_path: Path, progress: Progress) -> Campaign:
    folder = RunFolder.create(tmp_path, "test")
    return Campaign(folder, Manifest(run=folder.name), progress)


def to_come(progress: Progress) -> list[float]:
    """The seconds of each turn that was expected, which begin here and end at once."""
    now, seconds = progress.now(), list[float]()
    for _ in range(now.of - now.number):
        with progress.turn("", "", 0.0):
            seconds.append(progress.now().turn_left_s)
    return seconds


def why(searched: Searched) -> str:
    key = SearchKey("nginx/kernel", "connections", BEFORE_THE_FIRST_ROUND)
    return why_none(key, searched, SHORTEST, [1])


def test_an_experiment_whose_loads_are_shares_first_finds_what_the_slowest_holds(
    campaign: Campaign, progress: Progress
) -> None:
    experiment = read_experiment(COMPARE, quick=True)
    feed = comparison.turns_of(experiment, campaign)
    asked = [next(feed), feed.send((Held(4_400.0), ""))]
    assert [turn.where for turn in asked] == [
        f"search for the ceiling of {name}" for name in ("nginx/kernel", "astf-peer")
    ]
    first_s, second_s, *own = to_come(progress)
    assert first_s > second_s, "the second search begins at what the first one found"
    rest = [feed.send((Held(4_000.0, (3_300.0,)), "")), *feed]
    found, rates = campaign.folder.manifest().loads_found, experiment.load.rates_of(4_000.0)
    assert found is not None and found.offered_cps == rates
    assert found.not_held == {"astf-peer": [3_300.0]}
    assert {tuple(turn.experiment.load.offered_cps) for turn in rest} == {tuple(rates)}
    assert to_come(progress) == own and len(rest) == len(own)


def test_rounds_go_in_one_direction_and_the_other_and_the_time_of_each_is_expected(
    campaign: Campaign, progress: Progress
) -> None:
    experiment = read_experiment(COMPARE, quick=True).offering([1000.0])
    turns = list(comparison.turns_of(experiment, campaign))
    order = ["nginx/kernel", "astf-peer", "astf-peer", "nginx/kernel"]
    assert [turn.system for turn in turns] == order
    assert [turn.where.partition(",")[0] for turn in turns] == [
        *["round 1 of 2"] * 2,
        *["round 2 of 2"] * 2,
    ]
    expected = to_come(progress)
    assert len(expected) == len(turns)
    assert all(of > turn.setup_s for of, turn in zip(expected, turns, strict=True))


def test_http_clients_get_a_session_of_their_own_kind(campaign: Campaign) -> None:
    (first, *_) = comparison.turns_of(
        read_experiment(EXPERIMENTS / "nginx_cookbook.yaml"), campaign
    )
    assert first.open is open_http_session


def test_a_system_that_holds_nothing_ends_the_search_for_loads() -> None:
    systems = variants(read_experiment(COMPARE, quick=True))
    feed = lowest_ceilings(systems)
    next(feed)
    system = Simulated(0.0)
    found = search(SHORTEST, system.measure)
    words = "nginx/kernel: PDR: no load was held with at most 0.5% loss"
    with pytest.raises(StackcostError, match=words):
        feed.send((None, why(Searched(found, 1000.0, system.trials, False))))


def test_a_system_that_stops_amid_the_search_for_loads_ends_it_with_what_it_held() -> None:
    systems = variants(read_experiment(COMPARE, quick=True))
    feed = lowest_ceilings(systems)
    next(feed)
    system = Simulated(5_000.0)
    for load in (1_000, 2_000):
        system.measure(load, 1.0)
    system.ceiling = 0.0
    for load in (4_000, 2_000, 1_000, 500):
        system.measure(load, 1.0)
    found = SearchResult({SHORTEST.goals[0]: Bounds(lower=2_000)})
    words = "nothing passed any more after trial 2: .*1,000 and 2,000 connections/s were held"
    with pytest.raises(StackcostError, match=words):
        feed.send((None, why(Searched(found, 4_000, system.trials, True))))


def test_a_search_is_followed_by_its_reference_system_from_the_load_that_was_not_held() -> None:
    (nginx, peer) = variants(read_experiment(COMPARE, quick=True))
    settings = settings_for("connections", quick=True)
    plan = ceilings.CeilingPlan((nginx, peer), {"connections": settings}, 1, 0)
    feed = ceilings.turns_of(plan)
    first = next(feed)
    found = SearchResult({goal: Bounds(upper=5000.0) for goal in settings.goals})
    reference = feed.send(Searched(found, 9000.0, [], False))
    assert (first.system, reference.system) == ("nginx/kernel", "")
    assert reference.kind is server_class("astf-peer") and reference.where.endswith(
        "(reference system)"
    )
    assert reference.steps.keywords["load"] == 5000.0  # type: ignore[attr-defined]
    last = feed.send(None)
    assert last.system == "astf-peer"
    with pytest.raises(StopIteration):
        feed.send(Searched(found, 9000.0, [], False))  # the peer is its own reference system
    of_search, of_twin, of_last = ceilings.expected_seconds(plan)
    assert of_search == of_last > of_twin > 0


@pytest.mark.parametrize("seed", [1, 4])
def test_a_search_fed_step_by_step_tries_the_loads_of_one_that_is_gone_through(seed: int) -> None:
    settings = settings_for("connections")
    whole = Simulated(7_400, noise=0.01, hiccup=0.3, seed=seed)
    outcome = search(settings, whole.measure)
    fed, so_far = Simulated(7_400, noise=0.01, hiccup=0.3, seed=seed), SoFar()
    found, wanted = next_trial(settings, so_far)
    while wanted is not None:
        so_far.append((wanted[0], fed.measure(*wanted)))
        found, wanted = next_trial(settings, so_far)
    assert found == outcome
    assert [trial.load for trial in fed.trials] == [trial.load for trial in whole.trials]


def test_each_event_has_a_bed_of_its_own_and_only_an_exhaustion_a_small_table() -> None:
    pattern = read_experiment(EXPERIMENTS / "dut.yaml", quick=True)
    experiment = pattern.model_copy(update={"servers": ["dut/nat44"]})
    settings = EventSettings()
    turns = list(device.turns_of(experiment, ["mix", "half_open", "cut"], settings))
    assert [(turn.system, turn.bed) for turn in turns] == [
        ("dut/nat44", event) for event in ("mix", "half_open", "cut")
    ]
    usual = experiment.dut.tracked_limit
    limits = [turn.experiment.dut.tracked_limit for turn in turns]
    assert limits == [usual, settings.of_exhausted()["tracked_limit"], usual]


def test_a_ramp_ends_with_the_most() -> None:
    assert list(rising(64, 2, 300)) == [64, 128, 256, 300]
    assert list(rising(64, 2, 64)) == list(rising(100, 2, 64)) == [64]
    assert list(islice(rising(2000.0, 1.5, math.inf), 3)) == [2000.0, 3000.0, 4500.0]
