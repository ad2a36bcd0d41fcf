"""XDP before a real server: its program forwards every frame."""

from collections.abc import Iterator

import pytest

from stackcost.analysis.cost.cpu import server_cost
from stackcost.analysis.device import device
from stackcost.contracts.errors import StackcostError
from stackcost.files import DUTS
from stackcost.servers.own_files import module_of
from stackcost.servers.registry import server_class
from stackcost.session.profile_session import ProfileSession
from tests.duts.bed import NGINX, load_trial, session_of
from tests.duts.test_services import become

FORWARDING, FORWARDING_GENERIC, SERVICE, SERVICE_GENERIC = (
    server_class(f"dut/xdp_{name}")
    for name in ("forwarding", "forwarding_generic", "service", "service_generic")
)
# One of each mode and of each program; the others are the same two by two.
KINDS = [
    FORWARDING,
    SERVICE_GENERIC,
    pytest.param(FORWARDING_GENERIC, marks=pytest.mark.long),
    pytest.param(SERVICE, marks=pytest.mark.long),
]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProfileSession]:
    """A bed with a device and nginx behind it, which each test makes into a device of its own."""
    with session_of(FORWARDING, tmp_path_factory.mktemp("logs"), NGINX) as session:
        yield session


def forwarded_by_kernel(session: ProfileSession) -> int:
    names, values = [
        line.split()
        for line in session.local_server.server.execute("cat", "/proc/net/snmp").splitlines()
        if line.startswith("Ip:")
    ]
    return int(values[names.index("ForwDatagrams")])


@pytest.mark.bed
@pytest.mark.parametrize("kind", KINDS)
def test_the_program_forwards_every_frame_and_none_is_lost(
    session: ProfileSession, kind: type
) -> None:
    for interface in session.local_server.server.interfaces:
        for mode in ("xdpdrv", "xdpgeneric"):
            session.local_server.server.ip(f"link set dev {interface} {mode} off")
    become(session, kind)
    before = forwarded_by_kernel(session)
    seen = load_trial(session, 300, 0.5)
    assert seen.trial.load.server_requests == seen.trial.traffic.completed > 0
    assert device.lost_frames(seen.trial) == device.LostFrames(0, 0, 0)
    assert seen.trial.traffic.failed == seen.trial.traffic.retransmitted == 0
    assert forwarded_by_kernel(session) == before, "the kernel's own stack forwarded none"
    print(kind.name, server_cost(seen))


@pytest.mark.bed
def test_a_refusal_has_the_kernels_words_and_a_way_out(
    session: ProfileSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    xdp = session.local_server.server
    native = FORWARDING.make(xdp.endpoint, xdp.settings)
    with pytest.raises(StackcostError, match=r"lo: .*not support XDP") as caught:
        native.attach(["lo"])
    assert "_generic" in caught.value.hint
    monkeypatch.setattr(module_of(DUTS / "xdp/dut.py"), "configuration", dict)
    with pytest.raises(StackcostError) as caught:
        native.attach(["lo"])
    assert caught.value.hint == "the kernel needs CONFIG_BPF_SYSCALL=y, CONFIG_BPF_JIT=y"
