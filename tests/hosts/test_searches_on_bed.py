"""Searches for ceilings and an event of a device, with the system on another host."""

import pytest

from stackcost.contracts.load import DeviceEvent, SearchStep
from tests.hosts.lab import NICS, Lab
from tests.hosts.test_on_bed import check_undone, errors, plan, trials

pytestmark = pytest.mark.bed


@pytest.mark.long
def test_a_ceiling_is_searched_with_the_server_on_another_host(lab: Lab) -> None:
    """Of the peer, which has no reference system: a search of nginx has a second turn, for the
    peer.
    """
    results = str(lab.folder / "results")
    assert errors(lab, results, plan(lab, "ceiling", server="astf-peer", flows=False)) == [None]
    steps = [each.load for each in trials(lab, "ceiling")]
    assert steps and all(isinstance(each, SearchStep) and each.loss for each in steps)
    assert {each.load for each in steps} >= {300}  # a busy machine may lose at the next one
    for each in steps:
        assert each.loss.intended == each.offered.client["tcps_connattempt"]
    check_undone(lab)


@pytest.mark.long
def test_a_device_on_another_host_has_a_ceiling_and_events(lab: Lab) -> None:
    results = str(lab.folder / "results")
    plans = [
        plan(lab, name, NICS, server="dut/nftables", flows=False)
        for name in ("ceiling-dut", "events")
    ]
    assert errors(lab, results, *plans) == [None, None]
    steps = trials(lab, "ceiling-dut")
    assert {each.load.load for each in steps} >= {300}
    assert not any(each.load.reference for each in steps), "the wire is on no other host"
    (event,) = trials(lab, "events")
    load = event.load
    assert isinstance(load, DeviceEvent) and load.timeline and load.timeline.cut
    cut_s = load.timeline.cut - load.timeline.began
    assert cut_s == pytest.approx(2, abs=1)
    probes = [
        (each.time - load.timeline.began, each.value)
        for each in event.samples
        if each.labels.get("group") == "probe" and each.labels.get("counter") == "tcps_connects"
    ]
    last = max(value for _, value in probes)
    assert min(at for at, value in probes if value == last) < cut_s + 1.5, "none got through later"
    check_undone(lab)
