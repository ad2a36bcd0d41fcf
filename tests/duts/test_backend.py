"""A real server behind a device: its count is the clients', and its time is not the device's."""

from pathlib import Path

import pytest

from stackcost.analysis import device
from stackcost.analysis.cpu import server_total
from stackcost.analysis.event_summary import summarise_events
from stackcost.bed.network import existing_namespaces
from stackcost.contracts.event_settings import EventSettings
from stackcost.contracts.load import DeviceEvent
from stackcost.contracts.trial import Trial
from stackcost.contracts.wiring import SERVER_NAMESPACE
from stackcost.host.namespace import processes_inside
from stackcost.runs.loads.event import Events
from stackcost.servers.registry import server_class
from tests.duts.bed import EXPERIMENT, load_trial, session_of

Nat44 = server_class("dut/nat44")

pytestmark = [pytest.mark.bed, pytest.mark.long]

SETTINGS = EventSettings(established=20, cut_at=3, cut_seconds=6)
NGINX = EXPERIMENT.model_copy(update={"dut": EXPERIMENT.dut.model_copy(update={"server": "nginx"})})


def test_nginx_behind_a_nat_serves_every_connection_and_is_no_part_of_its_cost(
    tmp_path: Path,
) -> None:
    with session_of(Nat44, tmp_path, NGINX) as session:
        seen = load_trial(session, 500, 1.0)
        (master, worker) = processes_inside(SERVER_NAMESPACE)
        assert not {master.pid, worker.pid} & set(session.local_server.processes.values())
        assert worker.cpu_affinity() == list(session.bed.cpus.load)
        cut = Trial("dut/nat44", 2, 1, DeviceEvent(event="cut", settings=SETTINGS))
        Events().offer(session, cut)
    assert existing_namespaces() == []

    closed = seen.trial.traffic.completed
    assert seen.trial.load.server_requests == closed > 0
    assert seen.trial.traffic.counter("tcps_connects") == closed
    assert seen.trial.traffic.failed == 0
    assert device.lost_frames(seen.trial) == device.LostFrames(0, 0, 0)
    assert (server_total(seen) or 0) > 0

    (found,) = summarise_events([cut], "test", EXPERIMENT.model_dump(), "complete", {}).events
    (before,), (after,) = found["event.before"].values, found["event.after"].values
    assert before > 0 and after < before / 4
