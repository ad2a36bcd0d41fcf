"""Where a load did not pass, from trials whose counters show one fault each."""

import pytest

from stackcost.analysis.ceiling.bottleneck import find_bottleneck
from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import summarise
from stackcost.analysis.trial.diagnosis import diagnosis
from stackcost.analysis.trial.flags import flags_of
from stackcost.contracts.counts import FramesPassed
from stackcost.contracts.trial import Trial
from stackcost.report.flags import flag_lines, not_held
from stackcost.report.short_tables import short_cost_table
from tests.analysis.runs import CONTEXT
from tests.analysis.trials import add_other_program, counter, gauge, load_trial
from tests.search.test_bottleneck import IDLE, search_trial

WHOLE = FramesPassed(20_000, 20_000, 20_000, 20_000)


def lossy(
    to_servers: FramesPassed = WHOLE, to_clients: FramesPassed = WHOLE, failed: int = 2263
) -> Trial:
    """A trial in which connections failed while the server had time left."""
    trial = search_trial(IDLE)
    trial.load.client |= {"tcps_drops": failed, "tcps_timeoutdrop": failed}
    trial.load.frames = {"to servers": to_servers, "to clients": to_clients}
    return trial


@pytest.mark.parametrize(
    ("frames", "place", "words"),
    [
        (
            {"to_servers": FramesPassed(20_000, 20_000, 8_323, 8_323)},
            "in the device",
            "11,677 of 20,000 frames to servers were lost in the device",
        ),
        (
            {"to_servers": FramesPassed(20_000, 19_000, 19_000, 19_000)},
            "before the device",
            "1,000 of 20,000 frames to servers were lost between the generator and the device",
        ),
        (
            {"to_clients": FramesPassed(20_000, 20_000, 20_000, 0)},
            "behind the device",
            "all 20,000 frames to clients were lost between the device and the clients",
        ),
        (
            {"to_clients": FramesPassed(900, None, None, 0)},
            "on the way",
            "all 900 frames to clients were lost in the device, or on the way to or from it",
        ),
    ],
)
def test_vanished_frames_have_a_point_a_way_and_a_number(
    frames: dict[str, FramesPassed], place: str, words: str
) -> None:
    trial = lossy(**frames)
    (found,) = diagnosis(Readings(trial))
    assert found == (place, words)
    assert words in flags_of(Readings(trial, (1,)))
    assert find_bottleneck(Readings(trial, (1,))).cause == place


def test_the_screen_says_where_frames_vanished_and_not_that_a_ceiling_was_passed() -> None:
    summary = summarise([lossy(FramesPassed(20_000, 20_000, 8_323, 8_323))], CONTEXT)
    assert any("11,677 of 20,000 frames to servers" in line for line in flag_lines(summary))
    assert short_cost_table(summary).rows[0][1] == "1,000, not all passed"
    (told,) = not_held(summary)
    assert told.startswith("not all passed, so in no main figure: ") and " at 1,000 (" in told
    assert f"  {told}" in flag_lines(summary)


@pytest.mark.parametrize(
    ("metric", "labels", "place", "words"),
    [
        (
            "engine.drops",
            {"engine": "generator", "reason": "frame_refused"},
            "frame size",
            "12 frames of the generator were refused by the sending device: longer than its MTU",
        ),
        (
            "engine.drops",
            {"engine": "peer", "reason": "refused"},
            "on the way",
            "12 frames of the peer were taken by the sending device, and its kernel refused them",
        ),
        (
            "ip.counter",
            {"namespace": "server", "counter": "IpFragFails"},
            "frame size",
            "12 IPv4 packets were longer than the next link's MTU (IpFragFails)",
        ),
        (
            "ip.counter",
            {"namespace": "server", "counter": "Ip6InTooBigErrors"},
            "frame size",
            "12 IPv6 packets were longer than the next link's MTU (Ip6InTooBigErrors)",
        ),
        (
            "conntrack.events",
            {"namespace": "server", "event": "drop"},
            "connection tracking",
            "12 packets were dropped by connection tracking: its table had no room",
        ),
    ],
)
def test_what_was_refused_is_named(
    metric: str, labels: dict[str, str], place: str, words: str
) -> None:
    trial = search_trial(IDLE)
    trial.samples += counter(metric, 12, labels)
    assert diagnosis(Readings(trial)) == [(place, words)]
    assert words in flags_of(Readings(trial, (1,)))
    assert find_bottleneck(Readings(trial, (1,))).cause == place


def test_a_path_with_a_smaller_mtu_is_named_with_it() -> None:
    trial = search_trial(IDLE)
    labels = {"engine": "generator"}
    trial.samples += counter("engine.path_mtu_messages", 12, labels)
    trial.samples += gauge("engine.path_mtu", (1450, 1400), labels)
    (found,) = diagnosis(Readings(trial))
    assert found.place == "frame size"
    assert found.words == (
        "path MTU 1,400: routers answered 12 longer frames of the generator, which sent again"
    )
    assert found.words in flags_of(Readings(trial, (1,)))


def test_syns_without_an_answer_are_counted_where_no_point_is_known() -> None:
    trial = load_trial(completed=500)
    trial.load.client |= {"tcps_connects": 379, "tcps_rexmttimeo_syn": 240}
    (found,) = diagnosis(Readings(trial))
    assert found.place == "on the way"
    assert found.words.startswith("121 of 500 SYNs were not answered and 240 were retransmitted")


@pytest.mark.parametrize(
    ("counters", "words"),
    [
        ({"tcps_conndrops": 300}, "300 of 500 connections were refused by a reset (RST)"),
        ({"tcps_drops": 20}, "20 of 500 connections were cut off by a reset (RST)"),
        (
            {"tcps_conndrops": 300, "tcps_drops": 20, "tcps_timeoutdrop": 100},
            "200 of 500 connections were refused and 20 of 500 connections were cut off "
            "by a reset (RST)",
        ),
    ],
)
def test_resets_are_counted_apart_from_what_was_given_up(
    counters: dict[str, int], words: str
) -> None:
    trial = load_trial(completed=500)
    trial.load.client |= counters
    assert diagnosis(Readings(trial)) == [("reset", words)]
    trial.load.frames = {"to clients": FramesPassed(0, 0, 300, 300)}
    (found,) = diagnosis(Readings(trial))
    assert found == ("in the device", f"{words}; the device sent 300 frames of its own")


def test_a_reset_among_losses_is_not_the_lead() -> None:
    trial = lossy(FramesPassed(900, 900, 800, 800), failed=14)
    trial.load.client |= {"tcps_drops": 14, "tcps_timeoutdrop": 13}
    lost, reset = diagnosis(Readings(trial))
    assert lost.place == "in the device" and reset.words.startswith("1 of 10,000 connections")


def test_a_packet_that_was_too_long_is_counted_once() -> None:
    """ip6_forward of the kernel counts it in both."""
    trial = load_trial()
    for name in ("Ip6InTooBigErrors", "Ip6FragFails"):
        trial.samples += counter("ip.counter", 12, {"namespace": "dut", "counter": name})
    assert [found.place for found in diagnosis(Readings(trial))] == ["frame size"]


@pytest.mark.parametrize("begun", [0, 12])
def test_a_neighbour_without_an_answer_is_told_while_it_is_in_use(begun: int) -> None:
    """The readings of a `counter` begin before those of a `gauge`."""
    told = [("no route", "neighbour 198.19.0.77 does not answer ARP")]
    answers = {"namespace": "dut", "counter": "IcmpOutDestUnreachs"}
    trial = load_trial()
    where = {"namespace": "dut", "interface": "sc-dut1", "address": "198.19.0.77"}
    trial.samples += gauge("neighbour.unresolved", (1, 1), where)
    trial.samples += gauge("ip.counter", (0, 0), answers | {"counter": "IpFragFails"})
    assert diagnosis(Readings(trial)) == [], "an older entry"
    trial.samples += counter("ip.counter", begun, answers)
    assert diagnosis(Readings(trial))[:1] == told


def test_frames_that_a_device_drops_are_told_the_most_first() -> None:
    trial = lossy(FramesPassed(900, 900, 800, 800), FramesPassed(900, 900, 100, 100))
    assert [found.words for found in diagnosis(Readings(trial))] == [
        "800 of 900 frames to clients were lost in the device",
        "100 of 900 frames to servers were lost in the device",
    ]


def test_connections_without_an_end_are_told_where_no_frame_was_counted() -> None:
    trial = load_trial(completed=500)
    trial.load.client |= {"tcps_closed": 500, "tcps_testdrops": 500, "tcps_rcvbyte": 0}
    (found,) = diagnosis(Readings(trial))
    assert found.place == "on the way"
    assert "all 500 established connections came to no end; 0 bytes of responses" in found.words


def test_a_trial_without_a_loss_has_no_sign() -> None:
    assert diagnosis(Readings(load_trial())) == []


def test_what_failed_comes_before_what_disturbed_more_trials() -> None:
    trials = [load_trial(number=at, round_number=at) for at in range(1, 9)]
    for trial in trials:
        add_other_program(trial, 0.4)
    trials[-1].load.client |= {"tcps_drops": 2263, "tcps_timeoutdrop": 2263}
    lines = [line for line in flag_lines(summarise(trials, CONTEXT)) if line.startswith("  ")]
    failed, others = (
        next(at for at, line in enumerate(lines) if words in line)
        for words in ("2,263 of 10,000 connections failed", "other programs took")
    )
    assert failed < others
