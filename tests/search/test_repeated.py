from stackcost.analysis.ceiling.controller import search
from stackcost.analysis.ceiling.settings import settings_for
from stackcost.analysis.ceiling.summarise import summarise_ceilings
from stackcost.analysis.ceiling.summary import RepeatedCeiling
from tests.search.simulated import Simulated, plan_of


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
