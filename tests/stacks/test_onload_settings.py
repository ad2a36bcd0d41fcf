"""What a program on Onload runs with: descriptors, environment, room for flows."""

import resource
from collections.abc import Iterator

import psutil
import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.stacks.onload import profile_of
from stackcost.stacks.onload.profile import Profile, settle
from tests.stacks.conftest import Machine

STOCK_FILES = 1024  # what a login gives, and the tier `stock` leaves as it is
OF_ITS_OWN = 16  # descriptors of the program itself


@pytest.fixture
def few_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (STOCK_FILES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def started(machine: Machine, profile: str) -> psutil.Process:
    stack = machine.onload(profile)
    stack.prepare()
    return psutil.Process(machine.start(stack)["worker-0"])


def words(machine: Machine) -> str:
    return (machine.home / "server/error.log").read_text()


@pytest.mark.parametrize("profile", ["balanced", "haproxy-balanced", "white-paper"])
def test_sockets_that_are_cached_take_no_descriptors_from_connections(
    machine: Machine, few_files: None, profile: str
) -> None:
    machine.play("closed connections")
    program = started(machine, profile)
    assert "Too many open files" not in words(machine)
    free = program.rlimit(psutil.RLIMIT_NOFILE)[0] - program.num_fds()
    assert STOCK_FILES - OF_ITS_OWN <= free <= STOCK_FILES


@pytest.mark.parametrize(
    ("soft", "hard", "flows", "cached"),
    [
        (1_024, 20_000, 0, 16_384),
        (1_048_576, 1_048_576, 15_000, 16_384),
        (20_000, 20_000, 15_000, 4_800),
        (1_024, 1_024, 0, 0),
    ],
)
def test_the_cache_leaves_connections_the_files_that_the_machine_allows(
    soft: int, hard: int, flows: int, cached: int
) -> None:
    settings = settle(profile_of("balanced"), 1, af_xdp=True).within_files(soft, hard, flows)
    assert settings.cached_sockets == cached
    told = {each.name: each.reason for each in settings.adjusted}
    assert ("EF_SOCKET_CACHE_MAX" in told) is (cached < 16_384)


@pytest.mark.parametrize("profile", ["balanced", "nginx-server"])
def test_no_cluster_is_asked_for_as_onload_wants_it(machine: Machine, profile: str) -> None:
    """EF_CLUSTER_IGNORE is deprecated; a fragment divides by EF_CLUSTER_SIZE, which is to be 0."""
    environment = started(machine, profile).environ()
    assert environment["EF_CLUSTER_SIZE"] == "0" and environment["EF_MAX_PACKETS"] == "32768"
    assert "EF_CLUSTER_IGNORE" not in environment
    assert "deprecated" not in words(machine)


def test_a_fragment_that_divides_by_zero_is_reported(machine: Machine) -> None:
    """In the words of the shell that Debian runs the launcher with."""
    stack = machine.onload()
    stack.prepare()
    stack.placement.folder.mkdir()
    (stack.placement.folder / "onload.opf").write_text("onload_import throughput\n")
    said = 'onload: 38: arithmetic expression: division by zero: "5760000 / EF_CLUSTER_SIZE"'
    (stack.placement.folder / "error.log").write_text(said)
    told = stack.explain(StackcostError("nginx ended with 2"))
    assert "divides by EF_CLUSTER_SIZE" in told.what


def test_by_af_xdp_there_is_room_for_the_flows_of_the_comparison(machine: Machine) -> None:
    stack = machine.onload(flows=15_000)
    stack.prepare()
    environment = psutil.Process(machine.start(stack)["worker-0"]).environ()
    assert environment["EF_ENDPOINT_PACKET_RESERVE"] == "0"
    assert stack.describe()["most_flows"] == 65_536
    changed = {each["name"] for each in stack.describe()["adjusted"]}
    assert "EF_ENDPOINT_PACKET_RESERVE" in changed


def test_more_flows_than_there_is_room_for_are_refused_before_the_run(machine: Machine) -> None:
    with pytest.raises(
        StackcostError, match=r"100,000 open flows.* at most 65,536 \(EF_MAX_ENDPOINTS\)"
    ) as told:
        machine.onload(flows=100_000).prepare()
    assert "open_flows" in told.value.hint
    assert not machine.calls("onload")


def test_a_reserve_for_each_endpoint_caps_the_flows() -> None:
    """A connection is accepted while what is reserved is below three quarters of the packets."""
    settings = {"EF_MAX_ENDPOINTS": 65536, "EF_MAX_PACKETS": 32768}
    profile = Profile(name="own", title="", source="", settings=settings, imports=["wan-traffic"])
    room = settle(profile, 1, af_xdp=False).room()
    assert room.flows == 32768 * 3 // 4 // 3 == 8192
    assert room.by == "EF_ENDPOINT_PACKET_RESERVE 3, EF_MAX_PACKETS 32768"


def test_each_stack_of_a_cluster_has_its_own_room() -> None:
    room = settle(profile_of("balanced"), 4, af_xdp=False).room()
    assert room.flows == 4 * (5_760_000 // 4 * 3 // 4 // 3)


def test_onloads_own_defaults_hold_where_nothing_is_set() -> None:
    settings = settle(profile_of("white-paper"), 1, af_xdp=False)
    assert (settings.room().flows, settings.cached_sockets) == (8192, 0)
