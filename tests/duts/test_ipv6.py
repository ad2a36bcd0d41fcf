"""Devices between IPv6 clients and servers of either version, on the real bed."""

import dataclasses
from pathlib import Path

import pytest

from stackcost.analysis.device import device
from stackcost.contracts.addresses import ipv6_of
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.trial import Trial
from stackcost.duts.base import Dut
from stackcost.runs.device import experiment_of
from stackcost.servers.registry import server_class
from stackcost.session.profile_session import ProfileSession
from stackcost.session.server_settings import server_settings
from tests.duts.bed import EXPERIMENT, load_trial, session_of

Bridge = server_class("dut/bridge")
Forwarding = server_class("dut/forwarding")
Nat44 = server_class("dut/nat44")
Nat64 = server_class("dut/nat64")
Nftables = server_class("dut/nftables")

DUT = EXPERIMENT.dut.model_copy(update={"ip_version": 6})
IPV6 = EXPERIMENT.model_copy(update={"dut": DUT})


def forwarded(session: ProfileSession) -> dict[int, int]:
    """Datagrams that the device's kernel has sent on, by IP version, by its own count."""
    (_, names), (_, values) = (
        line.split(maxsplit=1)
        for line in session.local_server.server.execute("cat", "/proc/net/snmp").splitlines()
        if line.startswith("Ip:")
    )
    ipv4 = dict(zip(names.split(), values.split(), strict=True))
    ipv6 = dict(
        line.split()
        for line in session.local_server.server.execute("cat", "/proc/net/snmp6").splitlines()
    )
    return {4: int(ipv4["ForwDatagrams"]), 6: int(ipv6["Ip6OutForwDatagrams"])}


def check_whole(trial: Trial) -> float:
    """Every connection ended with its whole response; returns how many there were."""
    opened = trial.traffic.counter("tcps_connattempt")
    assert trial.traffic.completed == opened > 0
    assert trial.traffic.failed == 0
    return opened


@pytest.mark.bed
def test_a_router_and_a_firewall_forward_ipv6(tmp_path: Path) -> None:
    with session_of(Forwarding, tmp_path, IPV6) as session:
        for kind in (Forwarding, Nftables):
            session.local_server.server = kind(
                session.bed.endpoint(tmp_path), server_settings(IPV6, kind)
            )
            session.local_server.server.start()
            before = forwarded(session)
            trial = load_trial(session, 500, 0.5).trial
            after = forwarded(session)
            opened = check_whole(trial)
            assert device.lost_frames(trial) == device.LostFrames(0, 0, 0)
            assert after[6] - before[6] > 6 * opened and after[4] == before[4]
            held = next(s for s in reversed(trial.samples) if s.metric == "conntrack.entries")
            assert (held.value or 0) >= opened * (kind is Nftables), kind


@pytest.mark.long
@pytest.mark.bed
def test_ipv6_clients_reach_ipv4_servers_through_nat64(tmp_path: Path) -> None:
    with session_of(Nat64, tmp_path, IPV6) as session:
        trial = load_trial(session, 200, 0.5).trial
        opened, by_version = check_whole(trial), forwarded(session)
        program = session.local_server.server.processes()["translator"]
    assert device.lost_frames(trial) == device.LostFrames(0, 0, 0)
    assert min(by_version.values()) > 6 * opened, "each frame goes through the router twice"
    assert not Path(f"/proc/{program}").exists()


@pytest.mark.parametrize(("kind", "version"), [(Nat44, 6), (Nat64, 4)])
def test_a_version_that_a_device_does_not_take_is_refused(kind: type[Dut], version: int) -> None:
    dut = EXPERIMENT.dut.model_copy(update={"ip_version": version})
    settings = dataclasses.replace(server_settings(EXPERIMENT, Bridge), dut=dut)
    with pytest.raises(
        StackcostError, match=f"{kind.name} does not support IPv{version}; dut.ip_version"
    ):
        kind.wiring_for(settings)


def test_the_standard_set_asks_a_device_for_the_version_that_it_takes() -> None:
    assert experiment_of("nat64", True, {}).dut.ip_version == 6
    assert experiment_of("nftables", True, {}).dut.ip_version == 4
    assert experiment_of("nftables", True, {"ip_version": 6}).dut.ip_version == 6
    with pytest.raises(StackcostError, match="dut/nat44 does not support IPv6"):
        experiment_of("nat44", True, {"ip_version": 6})
    with pytest.raises(StackcostError, match="nginx behind a device answers IPv4"):
        experiment_of("nftables", True, {"ip_version": 6, "server": "nginx"})


def test_an_ipv6_address_ends_with_the_ipv4_one() -> None:
    assert ipv6_of("16.0.0.200", "2001:2:0:16::") == "2001:2:0:16::1000:c8"
