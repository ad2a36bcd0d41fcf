"""Packets of a connection, when a frame is none, and cores for a line of payload."""

import pytest

from stackcost.analysis.extrapolate import cores_at_line_rate
from stackcost.analysis.figures import cpu, machine, rates
from stackcost.analysis.figures.groups import LoadTrials
from stackcost.analysis.figures.rates import NOT_READ, packets_per_connection, why_no_packets
from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import spread
from stackcost.analysis.summary import Level, ServerResult
from stackcost.contracts.trial import Trial
from tests.analysis.runs import CONTEXT
from tests.analysis.trials import counter, load_trial

COMPLETED = 10_000


def counted(received: int, sent: int, sent_bytes: float, interface: str = "sc-server0") -> Trial:
    """A trial whose interface counted so much in the window."""
    trial = load_trial(completed=COMPLETED)
    for direction, packets, size in (
        ("receive", received, 66.0 * received),
        ("send", sent, sent_bytes),
    ):
        labels = {"namespace": "made", "interface": interface, "direction": direction}
        trial.samples += counter("interface.packets", packets, labels)
        trial.samples += counter("interface.bytes", size, labels)
    return trial


def test_both_directions_are_counted_without_loopback() -> None:
    trial = counted(7 * COMPLETED, 26 * COMPLETED, 26 * COMPLETED * 1284.0)
    trial.samples += counted(1, COMPLETED, 60.0 * COMPLETED, "lo").samples
    seen = Readings(trial)
    assert packets_per_connection(seen, one_segment=True) == pytest.approx(33)
    assert why_no_packets(seen, one_segment=True) == ""


def test_with_tso_a_long_frame_among_short_ones_is_no_packet() -> None:
    """SYN-ACK, a response of 4,000 bytes in one frame, ACK and FIN: the mean would fit a line."""
    sent = 74 + 4066 + 66 + 66
    seen = Readings(counted(4 * COMPLETED, 4 * COMPLETED, COMPLETED * float(sent)))
    assert packets_per_connection(seen, one_segment=False) is None
    assert why_no_packets(seen, one_segment=False) == "with TSO a frame here may hold 4,110 B"


def test_with_tso_a_connection_that_would_fit_one_frame_is_counted() -> None:
    sent = 74 + 320 + 66
    seen = Readings(counted(4 * COMPLETED, 3 * COMPLETED, COMPLETED * float(sent)))
    assert packets_per_connection(seen, one_segment=False) == pytest.approx(7)


def test_an_interface_that_was_not_read_has_none() -> None:
    seen = Readings(load_trial())
    assert packets_per_connection(seen, one_segment=True) is None
    assert why_no_packets(seen, one_segment=True) == NOT_READ


def test_what_no_connection_completed_for_is_divided_by_none() -> None:
    """A part of one, of which a counter between two readings may tell, gave figures of millions."""
    trial = counted(7, 26, 1284.0)
    trial.samples = [each for each in trial.samples if each.metric != "trex.counter"]
    labels = {"engine": "generator", "side": "client", "counter": "tcps_closed"}
    trial.samples += counter("trex.counter", 0.4, labels)
    trial.samples += counter("energy.used", 90.0, {"package": "0"})
    for mode in ("user", "kernel"):
        trial.samples += counter("cpu.cycles", 7e9, {"cpu": "1", "mode": mode})
    seen = Readings(trial, (1,))
    loads = LoadTrials([seen], CONTEXT)
    for figure in (machine.ENERGY, rates.PACKETS, cpu.HARDWARE, cpu.SERVER_CPU_TOTAL):
        for each in figure.spreads(loads).values():
            assert each.median is None and "no connection" in each.reason, figure.name


RATES = (1000.0, 2000.0, 3000.0)
IDLE_CORES = 0.05  # busy without any connection


def server(costs_us: dict[int, float], rates: tuple[float, ...] = RATES) -> ServerResult:
    """By round, the cost of one more connection; a fixed part comes on top at every load."""
    levels = []
    for rate in rates:
        each = [cost + IDLE_CORES * 1e6 / rate for cost in costs_us.values()]
        levels.append(
            Level.model_construct(
                test="",
                past_ceiling="",
                figures={
                    "completed_cps": spread([rate] * len(each), "1/s", rounds=[*costs_us]),
                    "server_cpu_total": spread(each, "us", rounds=[*costs_us]),
                    "packets": spread([33.0] * len(each), "1", rounds=[*costs_us]),
                },
            )
        )
    return ServerResult.model_construct(name="made", response_bytes=32_000, levels=levels)


def test_the_fixed_part_is_in_no_slope() -> None:
    found = cores_at_line_rate(server({1: 100.0, 2: 100.0}))
    assert found.connections_per_core.values == pytest.approx([10_000, 10_000])
    assert found.bits_per_core.median == pytest.approx(10_000 * 32_000 * 8 / 1e9)
    assert found.packets_per_core.median == pytest.approx(0.33), "33 of each connection"
    assert found.cores.median == pytest.approx(100 / 2.56)


def test_packets_that_were_not_counted_are_unknown_and_nothing_else_is() -> None:
    made = server({1: 100.0})
    unread = spread([], "1", "they hold several segments")
    for level in made.levels:
        level.figures["packets"] = unread
    found = cores_at_line_rate(made)
    assert found.packets_per_core.median is None and found.connections_per_core.median is not None
    assert found.packets_per_core.reason == "they hold several segments"


def test_rounds_that_differ_are_its_spread() -> None:
    found = cores_at_line_rate(server({1: 100.0, 2: 110.0, 3: 120.0}))
    assert found.cores.rounds == [1, 2, 3]
    assert found.cores.minimum == pytest.approx(100 / 2.56)
    assert found.cores.maximum == pytest.approx(1.2 * 100 / 2.56)


def test_a_load_past_the_ceiling_is_left_out_and_one_load_is_no_line() -> None:
    made = server({1: 100.0})
    made.levels[1:] = [
        level.model_copy(update={"past_ceiling": "lost"}) for level in made.levels[1:]
    ]
    found = cores_at_line_rate(made)
    assert found.cores.median is None and "two loads" in found.cores.reason
