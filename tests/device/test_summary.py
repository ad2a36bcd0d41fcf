"""When an event is over, and what its summary says, from trials whose timeline is known."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from stackcost.analysis.device.event_summary import EventResult, summarise_events
from stackcost.cli.entry import app
from stackcost.contracts.event_settings import EventSettings
from stackcost.contracts.trial import Trial
from stackcost.report.device import sentences
from stackcost.report.listing import runs_in
from stackcost.report.results.computed import summarise_again
from stackcost.runs.device import (
    PATTERN_TLS,
    ceilings_over_tls,
    events_for,
    experiment_of,
)
from stackcost.runs.loads.event import STEADY_S, works_again
from stackcost.store import Manifest, RunFolder
from tests.device.event_trials import PLAN, SETTINGS, event_trial, mixed


def result(trial: Trial) -> EventResult:
    (found,) = summarise_events([trial], "test", PLAN, "complete", {}).events
    return found


def test_fullness_failure_and_recovery_are_when_they_were() -> None:
    found = result(event_trial(full_from=4.0, through_again=11.0))
    assert found["event.at"].median == 4.0
    assert found["event.first_failure"].median == 4.5
    assert found["event.recovered"].median == 11.5
    assert found["event.before"].median == found["event.after"].median == 100
    assert "recovered 5.5 s after the flood had closed" in found.sentence


def test_a_device_that_does_not_recover_is_said_not_to() -> None:
    found = result(event_trial(full_from=4.0, through_again=99.0))
    assert found["event.recovered"].median is None
    assert "until the end at 30 s, 24 s after the end of the flood" in found.sentence


def test_a_table_that_never_fills_is_no_exhaustion() -> None:
    found = result(event_trial(full_from=99.0, through_again=99.0))
    assert found["event.at"].median is None and found["event.first_failure"].median is None
    assert found.sentence == "dut/test: its table of 1,000 entries was never full."


def test_nginx_beside_the_generator_on_one_core_is_not_exhausted() -> None:
    of_nginx = experiment_of("nftables", True, {"server": "nginx"})
    events, left_out = events_for(of_nginx, tracks=True)
    assert events == ["cut", "killed"] and len(left_out) == 2
    assert "nginx shares core 0 with the generator" in left_out[0]
    cores = of_nginx.cores.model_copy(update={"load": [0, 2]})
    events, _ = events_for(of_nginx.model_copy(update={"cores": cores}), tracks=True)
    assert events == ["exhaustion", "half_open", "cut", "killed"]
    summary = summarise_events([], "test", PLAN | {"left_out": left_out}, "complete", {})
    assert sentences(summary) == left_out


@pytest.mark.parametrize("kind", ["nftables", "tls_nginx"])
def test_over_tls_all_loads_have_it_and_throughput_is_by_length(kind: str) -> None:
    """RFC 9411, 7.6 to 7.9: the costs have the latency, the ceilings the rest."""
    costs = experiment_of(kind, True, {}, pattern_file=PATTERN_TLS)
    assert costs.title.startswith(f"One HTTPS connection through dut/{kind}")
    assert costs.tls and 0.5 in costs.load.offered_shares
    device, by_length = ceilings_over_tls(costs, quick=True)
    assert list(device.settings) == ["connections", "flows"]
    assert list(by_length.settings) == ["requests"]
    lengths = [each.experiment.workload.response_bytes for each in by_length.targets]
    assert lengths == [1_000, 64_000]
    for target in (*device.targets, *by_length.targets):
        assert target.server == f"dut/{kind}" and target.experiment.tls and not target.lacking


def test_mixed_traffic_has_a_ceiling_and_a_share_of_each_application() -> None:
    shares = {100.0: 1.0, 200.0: 1.0, 400.0: 0.5, 100.5: 1.0}
    (found,) = summarise_events([mixed(shares)], "test", PLAN, "complete", {}).mixes
    assert found["mix.ceiling"].values == [200]
    assert [step["mix.whole.web"].values for step in found.steps] == [[1.0], [1.0], [0.5], [1.0]]
    assert [step.half for step in found.steps] == [False, False, False, True]
    assert "up to 200 mixed flows/s; the first application with losses was web at" in found.sentence
    assert "offered again at 100 flows/s, no application lost traffic" in found.sentence


def test_mixed_traffic_without_losses_has_no_ceiling_and_says_why() -> None:
    (found,) = summarise_events([mixed({100: 1.0})], "test", PLAN, "complete", {}).mixes
    assert found["mix.ceiling"].reason == "no application lost traffic at any load"


def test_a_run_of_events_is_exported_compared_and_has_a_trend(tmp_path: Path) -> None:
    for recovers in (11.0, 99.0):
        run = RunFolder.create(tmp_path, "events")
        plan = PLAN | {"events": SETTINGS.model_dump()}
        run.write_manifest(
            Manifest(run=run.name, kind="events", state="complete", experiment=plan, machine={})
        )
        run.add_trial(event_trial(full_from=4.0, through_again=recovers))
        summarise_again(run)
    one, other = (str(run.path) for run in runs_in(tmp_path))
    exported = said("export", one)
    assert "exhaustion,event.recovered,,1,11.5,s" in exported
    assert 'exhaustion,event.recovered,,,,s,"none failed, or' in said("export", other)
    assert "exhaustion: event.after" in said("diff", one, other)
    assert "exhaustion: event.after of dut/test" in said("trend", str(tmp_path))
    assert "event.first_failure" in said("show", one, "--long")


def said(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


FLOOD = EventSettings(flood=1_200, flood_cps=300, hold_seconds=2, probe_cps=50)  # ends at 6 s
READINGS = [n / 2 for n in range(1, 120)]


def ended(unanswered: dict[float, float]) -> float | None:
    """When an event ends whose new connections were unanswered in these numbers."""
    readings = list(unanswered.items())
    ends = (at for n, (at, _) in enumerate(readings, 1) if works_again(readings[:n], FLOOD))
    return next(ends, None)


def test_an_exhaustion_ends_once_new_connections_have_got_through_for_a_while() -> None:
    blocked = {at: 50 * max(0.0, min(at, 11) - 4) for at in READINGS}
    end = ended(blocked)
    assert end is not None and 11 <= end - STEADY_S + 1 <= 12


def test_it_does_not_end_before_the_flood_is_over_nor_while_nothing_gets_through() -> None:
    end = ended(dict.fromkeys(READINGS, 1.0))
    assert end is not None and end > FLOOD.flood_ends + STEADY_S
    assert ended({at: 50 * at for at in READINGS}) is None
