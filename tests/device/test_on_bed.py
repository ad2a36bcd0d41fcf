"""Events on the real test bed; each leaves nothing behind."""

from pathlib import Path

import pytest

from stackcost.analysis.device.event_summary import EventResult, summarise_events
from stackcost.analysis.device.mix import mix_steps
from stackcost.bed.network import existing_namespaces
from stackcost.contracts.event_settings import EventSettings
from stackcost.contracts.load import DeviceEvent, MixedLoad
from stackcost.contracts.trial import Trial
from stackcost.runs.loads.event import Events
from stackcost.runs.loads.mix import Mix
from stackcost.servers.registry import server_class
from tests.duts.bed import EXPERIMENT, session_of

Forwarding = server_class("dut/forwarding")

pytestmark = pytest.mark.bed

SETTINGS = EventSettings(
    established=20, cut_at=3, cut_seconds=7, mix_loads=(200, 400), mix_step_s=2
)
PLAN = EXPERIMENT.model_dump(mode="json")


@pytest.mark.long
def test_flows_through_a_device_that_is_killed_end_by_themselves(tmp_path: Path) -> None:
    """Its links go with it, and the generator's ports, which are their other ends."""
    with session_of(Forwarding, tmp_path) as session:
        trial = Trial("dut/forwarding", 1, 1, DeviceEvent(event="killed", settings=SETTINGS))
        Events().offer(session, trial)
        session.check_parts()
        assert "stackcost-dut" not in existing_namespaces()
    assert existing_namespaces() == []

    (seen,) = summarise_events([trial], "test", PLAN, "complete", {}).events
    assert value(seen, "event.at") == pytest.approx(SETTINGS.cut_at, abs=2.0)
    assert 4 * value(seen, "event.after") < value(seen, "event.before")
    assert value(seen, "event.first_failure") >= value(seen, "event.at")
    given_up = value(seen, "event.lost_established") + value(seen, "event.not_ended")
    assert given_up >= SETTINGS.established
    assert "removed with all its links at" in seen.sentence


@pytest.mark.long
def test_mixed_traffic_is_whole_and_a_cut_link_is_seen_by_all(tmp_path: Path) -> None:
    with session_of(Forwarding, tmp_path) as session:
        mixed = Trial("dut/forwarding", 1, 1, MixedLoad())
        Mix(SETTINGS).offer(session, mixed)
        cut = Trial("dut/forwarding", 2, 1, DeviceEvent(event="cut", settings=SETTINGS))
        Events().offer(session, cut)
    assert existing_namespaces() == []

    assert mixed.load.limits is not None and mixed.load.limits.refused == {}
    assert cut.load.limits is None
    found = mix_steps(mixed)
    steps = [*found.rising, found.half]
    assert [step and step.flows_per_second for step in steps] == [200, 400, 200]
    assert all(len(step.whole) == 7 and (step.whole["dns"] or 0) > 0.95 for step in steps if step)

    (seen,) = summarise_events([cut], "test", PLAN, "complete", {}).events
    assert value(seen, "event.first_failure") >= value(seen, "event.at")
    assert 4 * value(seen, "event.after") < value(seen, "event.before")
    assert seen["event.recovered"].median is None
    given_up = value(seen, "event.lost_established") + value(seen, "event.not_ended")
    assert given_up >= SETTINGS.established


def value(found: EventResult, name: str) -> float:
    """A figure that is known."""
    (known,) = found[name].values
    return known
