"""Services, tracking and a container host before a real server: what they translate and cost."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import linregress

from stackcost.analysis.cost.cpu import server_cost
from stackcost.analysis.device import device
from stackcost.duts.base import Dut
from stackcost.files import DUTS
from stackcost.host.namespace import execute
from stackcost.servers.own_files import module_of
from stackcost.servers.registry import server_class
from stackcost.session.profile_session import ProfileSession
from stackcost.session.server_settings import server_settings
from tests.duts.bed import NGINX, load_trial, session_of
from tests.duts.test_proxies import made

Conntrack = server_class("dut/conntrack")
ContainerBridge = server_class("dut/container_bridge")
IptablesLegacyService = server_class("dut/service_iptables_legacy")
IptablesService = server_class("dut/service_iptables")
NftablesService = server_class("dut/service_nftables")
Service = module_of(DUTS / "service/base.py").Service

NO_RULES = "*nat\nCOMMIT\n*filter\nCOMMIT\n"  # nft does not flush ip_tables
STRAIGHT = 0.97  # coefficient of determination


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProfileSession]:
    """A bed with a device and nginx behind it, which each test makes into a device of its own."""
    with session_of(NftablesService, tmp_path_factory.mktemp("logs"), NGINX) as session:
        yield session


def become(session: ProfileSession, kind: type[Dut], **dut: object) -> Dut:
    session.local_server.server.stop()
    execute(session.bed.server_namespace, ["iptables-legacy-restore"], NO_RULES)
    settings = server_settings(NGINX, kind)
    settings = replace(settings, dut=settings.dut.model_copy(update=dut))
    device = kind(session.bed.endpoint(session.folder), settings)
    session.local_server.server = device
    device.start()
    device.reset()
    return device


@pytest.mark.bed
@pytest.mark.long
def test_a_rule_of_iptables_costs_the_same_wherever_it_is_in_the_list(
    session: ProfileSession,
) -> None:
    """Other programs' packets are in their cores' softirq, too: what they disturbed is repeated."""
    service, counts = become(session, IptablesService), (0, 3_000, 6_000)
    for _attempt in range(3):
        costs = []
        for count in counts:
            dut = service.settings.dut.model_copy(update={"rules": count})
            service.settings = replace(service.settings, dut=dut)
            service.apply_rules()
            costs.append(server_cost(load_trial(session, 500, 1.0))["softirq"])
        line = linregress(counts, costs)
        if line.rvalue**2 > STRAIGHT:
            break
    assert line.rvalue**2 > STRAIGHT, costs
    assert line.slope * 1_000 > 1.0, costs  # microseconds
    print(costs)


@pytest.mark.bed
@pytest.mark.parametrize(
    "kind",
    [
        NftablesService,
        pytest.param(IptablesService, marks=pytest.mark.long),
        pytest.param(IptablesLegacyService, marks=pytest.mark.long),
        pytest.param(Conntrack, marks=pytest.mark.long),
        ContainerBridge,
    ],
)
def test_every_connection_reaches_the_server_behind_and_nothing_is_lost(
    session: ProfileSession, kind: type[Dut]
) -> None:
    """A Service's server does not have the address that clients ask for: it is translated."""
    become(session, kind, rules=20)
    seen = load_trial(session, 300, 0.5)
    assert seen.trial.load.server_requests == seen.trial.traffic.completed > 0
    assert device.lost_frames(seen.trial) == device.LostFrames(0, 0, 0)
    assert seen.trial.traffic.failed == seen.trial.traffic.retransmitted == 0
    assert device.tracking_events(seen)["insert_failed"] == 0
    print(kind.name, server_cost(seen))


def service(kind: type[Service], folder: Path, **dut: int) -> str:
    device = made(kind, folder)
    settings = device.settings.dut.model_copy(update=dut)
    device.settings = replace(device.settings, dut=settings)
    return device.ruleset()


@pytest.mark.parametrize("kind", [IptablesService, IptablesLegacyService])
def test_rules_of_other_services_come_first_and_each_endpoint_gets_an_equal_share(
    kind: type[Service], tmp_path: Path
) -> None:
    text = service(kind, tmp_path, rules=50, endpoints=4)
    listed = re.findall(r"^-A KUBE-SERVICES -d (\S+)/32", text, re.MULTILINE)
    assert len(listed) == len(set(listed)) == 51 and listed[-1] == "48.0.0.1"
    shares = [float(share) for share in re.findall(r"--probability (\S+)", text)]
    assert shares == pytest.approx([1 / 4, 1 / 3, 1 / 2])
    assert text.count("--to-destination 198.19.0.2:80") == 4


def test_a_map_has_every_service_once_and_every_endpoint(tmp_path: Path) -> None:
    text = service(NftablesService, tmp_path, rules=50, endpoints=4)
    assert (
        text.count(": goto other") == 50 and text.count("48.0.0.1 . tcp . 80 : goto service") == 1
    )
    assert "numgen random mod 4" in text and text.count("dnat to 198.19.0.2:80") == 4
