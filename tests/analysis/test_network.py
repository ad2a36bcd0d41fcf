"""What a lossy network costs, with known answers, and how its trials are judged."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import summarise
from stackcost.analysis.summary import Summary
from stackcost.analysis.trial.checks import checks
from stackcost.analysis.trial.diagnosis import diagnosis
from stackcost.analysis.trial.flags import flags_of
from stackcost.analysis.trial.overload import overload
from stackcost.contracts.network import NetworkCounts, NetworkSettings
from stackcost.contracts.system import System
from stackcost.contracts.trial import Trial
from stackcost.report.network import conditions_of
from stackcost.report.notebook import fitting
from stackcost.report.terminal import print_screen
from tests.analysis.runs import CONTEXT
from tests.analysis.trials import counter, load_trial
from tests.report.cells import shown
from tests.report.opened import opened

ROUNDS = (1, 2, 3, 4, 5, 6)


def with_loss(server: str, loss: float) -> System:
    return System.of(server, {"network.loss": loss})


def over(
    loss: float, name: str = "nginx/kernel", cost: float = 100, number: int = 1, lost: int = 10_000
) -> Trial:
    """A trial of 10,000 connections, of a million frames; with loss segments are sent again."""
    costs = {"user": 10, "system": 40, "irq": 1, "softirq": cost - 51}
    trial = load_trial(with_loss(name, loss).name, number, number, microseconds=costs)
    asked = NetworkSettings(loss=loss)
    trial.load.network = NetworkCounts(asked, frames=1_000_000, lost=lost if loss else 0)
    if loss:
        sent_again(trial)
    trial.samples += counter("tcp.counter", 2_500, {"counter": "TcpRetransSegs"})
    return trial


def sent_again(trial: Trial) -> None:
    trial.load.client |= {"tcps_sndrexmitpack": 3_000, "tcps_rexmttimeo_syn": 50}


def summary() -> Summary:
    trials = [
        over(loss, name, cost + number / 10, number)
        for number in ROUNDS
        for name, loss, cost in (
            ("nginx/kernel", 0.01, 130),
            ("nginx/kernel", 0, 100),
            ("dut/wire", 0, 90),
            ("dut/wire", 0.01, 90),
        )
    ]
    servers = ("dut/wire", "nginx/kernel")
    systems = tuple(with_loss(name, loss) for name in servers for loss in (0, 0.01))
    return summarise(trials, replace(CONTEXT, systems=systems, pairs=()))


def test_segments_sent_again_over_a_lossy_network_are_no_fault() -> None:
    lossy = Readings(over(0.01), (1,))
    assert flags_of(lossy) == overload(lossy) == diagnosis(lossy) == []
    assert all(check.holds for check in checks(lossy))
    over_none = over(0)
    sent_again(over_none)
    whole = Readings(over_none, (1,))
    assert "3,050 segments retransmitted" in flags_of(whole)
    assert overload(whole) and diagnosis(whole)
    assert not all(check.holds for check in checks(whole))


@pytest.mark.parametrize(("lost", "holds"), [(10_000, True), (10_490, True), (9_400, False)])
def test_the_network_must_lose_the_share_that_was_asked_for(lost: int, holds: bool) -> None:
    """A million frames and 1 %: five standard deviations are 498."""
    found = {each.name: each for each in checks(Readings(over(0.01, lost=lost), (1,)))}
    check = found["frames that the network lost = share asked for x frames"]
    assert check.holds is holds and check.wanted == "10,000 within 497"


def test_frames_without_room_are_an_error_of_the_measurement() -> None:
    trial = over(0.01)
    assert trial.load.network
    trial.load.network.no_room = 7
    assert "the generator had no room for 7 frames of the network" in flags_of(
        Readings(trial, (1,))
    )


def test_each_network_is_beside_the_best_one_of_its_system() -> None:
    found = conditions_of(summary())
    assert [(each.system, each.network["loss"]) for each in found] == [
        ("dut/wire", 0),
        ("dut/wire", 0.01),
        ("nginx/kernel", 0),
        ("nginx/kernel", 0.01),
    ]
    *_, none, more = (each.compared for each in found)
    assert none is None and more and more.ratio == pytest.approx(1.3, rel=0.01)
    assert found[3].level["sent_again.server"].median == pytest.approx(0.25)


def test_the_report_and_the_screen_say_what_it_costs() -> None:
    runs = opened(summary())
    assert fitting(runs)[0] == "network"
    answer, table, plot = shown("network", runs)
    words = (
        "nginx/kernel takes 130 us of CPU for a connection over 0.01-loss and 100 us over 0-loss"
    )
    assert words in answer and "+29.9%" in table and "<svg" in plot
    screen = io.StringIO()
    print_screen(summary(), Console(file=screen, width=400))
    assert words in screen.getvalue()
