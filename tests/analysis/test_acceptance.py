"""RFC 9411's criteria, held against trials whose timeline is known."""

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.acceptance import acceptance
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.sample import Kind, Sample
from stackcost.contracts.tls import STEPS, TlsCounts, TlsSettings
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window


def trial(rates: list[int], failed: int = 0, attempted: int = 100_000) -> Readings:
    """Ended connections by seconds; of those begun 500 are open at each reading."""
    load = ConstantLoad(offered_cps=1000.0)
    made = Trial("dut/test", 1, 1, load, phases={"sustain": Window(0.0, float(len(rates)))})
    ended = 0
    for second, rate in enumerate([0, *rates]):
        ended += rate
        for counter, value in (("tcps_closed", ended), ("tcps_connattempt", ended + 500)):
            labels = {"engine": "generator", "side": "client", "counter": counter}
            made.samples.append(
                Sample(second, "trex.counter", labels, value, "1", Kind.COUNTER, "test")
            )
    load.client = {"tcps_connattempt": attempted, "tcps_drops": failed}
    return Readings(made)


def verdicts(*trials: Readings) -> list[bool | None]:
    return [check.holds for check in acceptance(trials)]


def test_a_constant_rate_without_failures_is_accepted() -> None:
    assert verdicts(trial([1000, 1010, 990])) == [True, True, True]


def test_one_failure_of_100_000_is_allowed_and_of_fewer_none() -> None:
    assert verdicts(trial([1000, 1000], failed=1))[0] is True
    assert verdicts(trial([1000, 1000], failed=2))[0] is False
    assert verdicts(trial([1000, 1000], failed=1, attempted=99_999))[0] is False
    halves = [trial([1000, 1000], failed=f, attempted=50_000) for f in (1, 0)]
    assert verdicts(*halves)[0] is True


def test_connections_that_failed_in_tls_have_failed() -> None:
    seen = trial([1000, 1000], attempted=1000)
    told = {"templates": [{"client": {"failed": 1}, "server": dict.fromkeys(STEPS, 0)}]}
    seen.trial.load_of(ConstantLoad).tls = TlsCounts.of(TlsSettings(), told)
    assert verdicts(seen)[0] is False


def test_a_rate_that_strays_from_its_mean_is_not_accepted() -> None:
    found = acceptance([trial([1000, 1000]), trial([1000, 1000, 1000, 1160])])
    assert [check.holds for check in found] == [True, False, True]
    assert found[1].seen == "11.5%"


def test_too_short_a_phase_is_unknown() -> None:
    found = acceptance([trial([1000])])[1]
    assert found.holds is None and "too few" in found.reason
