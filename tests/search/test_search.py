"""The search over a simulated system, whose ceiling is known."""

import pytest

from stackcost.analysis.ceiling.controller import TrialLoss, search
from stackcost.analysis.ceiling.settings import SearchSettings, settings_for
from stackcost.analysis.ceiling.stored import (
    SearchKey,
    attempts_of,
    search_again,
    step_of,
    trial_loss,
)
from stackcost.analysis.ceiling.summarise import ceiling_of as ceiling_of_trials
from stackcost.analysis.ceiling.summarise import first_without_any, summarise_ceilings
from stackcost.analysis.ceiling.summary import Ceiling, RepeatedCeiling, Stopped
from stackcost.contracts.load import CeilingKind
from stackcost.runs.loads.search import TIME_WAIT_S, answer_limit_s
from stackcost.runs.search import seconds_left
from stackcost.runs.slowest import SHORTEST
from tests.search.simulated import Simulated, cut_after, plan_of

KEY = SearchKey("nginx/kernel", "connections", 1)


def ceiling_of(system: Simulated, quick: bool = False, most: float | None = None) -> Ceiling:
    settings = settings_for(system.of, quick, most=most)
    search(settings, system.measure)
    plan = plan_of(settings, system.of)
    (found,) = summarise_ceilings(system.trials, "a run", plan, "complete", {}).ceilings
    return found


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("true", [812.0, 7_400.0, 251_000.0])
def test_a_known_ceiling_is_found_within_the_width(true: float, quick: bool) -> None:
    found = ceiling_of(Simulated(true, noise=0.001), quick)
    for rate in found.rates:
        assert rate.lower is not None and rate.upper is not None and rate.value is not None
        width = found.settings.relative_width
        assert rate.upper - rate.lower <= 1.001 * width * rate.upper
        assert abs(rate.value - true) < (width + 0.005) * true
        assert rate.low and rate.high and rate.low <= rate.lower <= rate.upper <= rate.high
        assert rate.high - rate.low < 0.05 * true
        assert f"{rate.low:,.0f} to {rate.high:,.0f}" in found.sentence
    assert found.complete and not found.at_least


@pytest.mark.parametrize("seed", range(5))
def test_noise_of_one_percent_moves_the_ceiling_by_less_than_two(seed: int) -> None:
    found = ceiling_of(Simulated(7_400, noise=0.01, seed=seed))
    values = [rate.value for rate in found.rates]
    assert all(value is not None and abs(value - 7_400) < 0.02 * 7_400 for value in values)


def test_open_flows_are_a_count_however_long_they_are_held() -> None:
    found = ceiling_of(Simulated(19_800, of="flows"))
    assert found.unit == "open flows"
    assert found.rates[0].value == pytest.approx(19_800, rel=0.006)
    assert len(found.trace) < 15


def test_a_generator_that_was_the_limit_is_said() -> None:
    found = ceiling_of(Simulated(20_000, generator=5_000))
    assert found.rates[0].value == pytest.approx(5_000, rel=0.01)
    assert found.bottleneck is not None and found.bottleneck.cause == "generator"
    assert "NDR at least" in found.sentence
    assert "90% interval" not in found.sentence, "it would not be the server's"
    assert "The true ceiling may be higher: the generator was the limit" in found.sentence
    reasons = found.sentence.removeprefix(found.bounds)
    assert found.bounds.endswith(").") and reasons.startswith(" The true ceiling may be higher")


def test_a_limit_set_by_hand_is_said() -> None:
    found = ceiling_of(Simulated(20_000), most=6_000)
    assert found.rates[0].value == 6_000 and found.bottleneck is None
    assert "the search was limited to 6,000" in found.at_least
    assert max(row.load for row in found.trace) == 6_000


def test_trials_that_were_disturbed_are_repeated_and_all_are_kept() -> None:
    system = Simulated(7_400, hiccup=0.3, seed=4)
    found = ceiling_of(system)
    assert found.rates[0].value == pytest.approx(7_400, rel=0.01)
    assert len(found.trace) == len(system.trials)
    passed_over = [row for row in found.trace if not row.decisive]
    assert passed_over and all(row.disturbed and row.lost for row in passed_over)
    assert max(row.repeat for row in found.trace) <= 2


def test_losses_of_disturbed_trials_limit_no_interval() -> None:
    """All trials are disturbed; what they lost may not be the server's loss."""
    found = ceiling_of(Simulated(7_400, hiccup=1.0))
    assert all(rate.low is None and rate.coverage is None for rate in found.rates)
    assert "90% interval" not in found.sentence


def test_both_ends_of_the_interval_are_tried_again_at_the_end() -> None:
    found = ceiling_of(Simulated(7_400, noise=0.01))
    last = [row.load for row in found.trace[-4:]]
    assert last[0] < last[1] and last[2] < last[3]
    before = found.settings.model_copy(update={"confirmations": 0})
    assert before == SearchSettings.model_validate(before.model_dump(exclude={"confirmations"}))


def test_without_the_repeats_the_same_disturbances_lower_the_ceiling() -> None:
    found = ceiling_of(Simulated(7_400, hiccup=0.6, seed=4, repeats=0))
    assert found.rates[0].value is None or found.rates[0].value < 0.99 * 7_400


@pytest.mark.parametrize("of", ["connections", "flows"])
def test_the_stored_trials_lead_to_the_same_bounds_again(of: CeilingKind) -> None:
    system, settings = Simulated(7_400, noise=0.01, hiccup=0.3, of=of, seed=4), settings_for(of)
    outcome = search(settings, system.measure)
    assert search_again(system.trials, settings) == outcome
    loads = [step_of(attempts[0]).load for attempts in attempts_of(system.trials)]
    assert len(loads) < len(system.trials)


@pytest.mark.parametrize("after", [0, 1, 4, 6, 10])
def test_a_search_that_was_cut_short_says_what_it_knew(after: int) -> None:
    system, settings = Simulated(7_400), settings_for("connections")
    with pytest.raises(KeyboardInterrupt):
        search(settings, cut_after(after, system.measure))
    outcome = search_again(system.trials, settings)
    assert not outcome.complete
    for bounds in outcome.bounds.values():
        assert bounds.lower is None or bounds.lower <= 7_500
        assert bounds.upper is None or bounds.upper >= 7_400
    if system.trials:
        plan = plan_of(settings)
        (found,) = summarise_ceilings(system.trials, "a run", plan, "interrupted", {}).ceilings
        assert "The search was interrupted" in found.sentence
        for rate in found.rates:
            lossless = [row.load for row in found.trace if row.loss_ratio <= rate.loss_ratio]
            below = [load for load in lossless if rate.upper is None or load < rate.upper]
            assert f"{max(below):,.0f} connections/s" in found.sentence or rate.value is not None
            assert f"{rate.name}: no load" not in found.sentence


@pytest.mark.parametrize("lost", [0, 1, 4, 8])
def test_a_search_of_which_a_trial_was_lost_is_known_up_to_it_and_no_further(lost: int) -> None:
    system, settings = Simulated(7_400), settings_for("connections")
    search(settings, system.measure)
    left = [trial for at, trial in enumerate(system.trials) if at != lost]
    assert search_again(left, settings) == search_again(system.trials[:lost], settings)


def test_a_ceiling_below_the_first_load_is_found() -> None:
    found = ceiling_of(Simulated(37))
    assert found.rates[0].value == pytest.approx(37, rel=0.02)


def test_a_server_that_serves_nothing_ends_the_search() -> None:
    found = ceiling_of(Simulated(0))
    assert found.rates[0].value is None
    assert "NDR: no load was held without loss, not even 1 connections/s" in found.sentence
    assert found.stopped is None, "it never passed anything"


def test_the_time_left_is_about_right_from_the_first_trial_on() -> None:
    system, settings = Simulated(7_400, noise=0.002), settings_for("connections")

    def seconds(_load: float, duration: float) -> float:
        return duration + 2.0

    search(settings, system.measure)
    taken = [seconds(0, step_of(trial).duration_s) for trial in system.trials]
    trials = [(step_of(trial).load, trial_loss(trial)) for trial in system.trials]
    for done in range(0, len(trials), 4):
        told = seconds_left(settings, trials[:done], seconds)
        assert told == pytest.approx(sum(taken[done:]), rel=0.5, abs=40)
    assert seconds_left(settings, trials, seconds) == 0


class Breaks(Simulated):
    """Passes nothing any more from the trial after `passing` of them on."""

    passing = 2

    def measure(self, load: float, duration: float) -> TrialLoss:
        if len(self.trials) >= self.passing:
            self.ceiling = 0.0
        return super().measure(load, duration)


def test_a_system_that_stops_passing_amid_a_search_has_no_ceiling_and_says_what_it_held() -> None:
    found = ceiling_of(Breaks(20_000))
    assert found.stopped == Stopped(after=2, held=[500, 1_000])
    assert found.sentence.startswith(
        "nginx/kernel: no ceiling, as nothing passed any more after trial 2"
    )
    assert found.sentence.endswith(" Before, 500 and 1,000 connections/s were held.")
    assert found.bottleneck is not None and found.bottleneck.trial == 3
    assert not found.complete and "interrupted" not in found.sentence
    assert [rate.value for rate in found.rates] == [None, None]


def test_bounds_that_were_known_before_a_system_stopped_are_told() -> None:
    system = Breaks(7_400)
    system.passing = 16
    found = ceiling_of(system)
    assert found.stopped is not None and found.stopped.after == 16
    assert "Bounds found until then: PDR 7,400 connections/s" in found.sentence


@pytest.mark.parametrize("settings", [SHORTEST, settings_for("connections", quick=True)])
def test_the_shortest_searches_say_it_too(settings: SearchSettings) -> None:
    """MLRsearch goes from a load of which all is lost to the lowest one at once."""
    system = Breaks(20_000)
    search(settings, system.measure)
    found = ceiling_of_trials(KEY, system.trials, settings, (1,))
    assert found.stopped is not None and found.stopped.after == 2, found.sentence


def test_a_device_that_recovers_did_not_stop() -> None:
    lost, held = TrialLoss(100, 100), TrialLoss(100, 0)
    tried = [(500.0, held), (1000.0, lost), (500.0, lost)]
    assert first_without_any(tried) is None
    assert first_without_any([*tried, (400.0, lost)]) == 1
    assert first_without_any([*tried, (400.0, lost), (400.0, held)]) is None


def repeated(ceilings: list[float], hiccup: float = 0.0) -> list[RepeatedCeiling]:
    """What is said of several searches for the same thing, each of which found another ceiling."""
    settings = settings_for("connections")
    trials = []
    for number, ceiling in enumerate(ceilings, start=1):
        system = Simulated(ceiling, hiccup=hiccup, seed=number)
        search(settings, system.measure)
        for trial in system.trials:
            trial.round = number
        trials += system.trials
    return summarise_ceilings(trials, "a run", plan_of(settings), "complete", {}).repeated


def test_searches_that_agree_are_not_called_noisy() -> None:
    ndr, pdr = repeated([7_400, 7_430, 7_380, 7_410, 7_440])
    assert (ndr.rate, pdr.rate) == ("NDR", "PDR")
    assert len(ndr.values.values) == 5 and ndr.range_share < 0.03
    assert "noisy" not in ndr.sentence


def test_a_machine_too_noisy_is_reported() -> None:
    ndr, _ = repeated([7_400, 6_800, 7_300], hiccup=0.3)
    assert 0.07 < ndr.range_share < 0.1
    assert "above 3%: the machine is too noisy" in ndr.sentence
    assert "trials were disturbed, such as trial" in ndr.sentence and "stolen" in ndr.sentence


def test_one_search_says_nothing_of_others() -> None:
    assert repeated([7_400]) == []


TREX_BEGINS_AFTER_S = 0.11


@pytest.mark.parametrize(
    ("begins_s", "tells_schedule"), [(0.0, True), (TREX_BEGINS_AFTER_S, False)]
)
def test_what_a_generator_needs_to_begin_is_not_lost_by_the_server(
    begins_s: float, tells_schedule: bool
) -> None:
    last_ends = begins_s + 0.01 + TIME_WAIT_S  # answered in 10 ms
    assert last_ends < answer_limit_s("connections", tells_schedule)


def test_a_generator_that_tells_its_schedule_is_held_to_it() -> None:
    assert answer_limit_s("connections", True) < TIME_WAIT_S + TREX_BEGINS_AFTER_S
    assert answer_limit_s("requests", True) < TREX_BEGINS_AFTER_S
