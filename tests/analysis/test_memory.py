import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from stackcost.analysis.figures.registry import OF_MEMORY, computed
from stackcost.analysis.memory.memory import fit, lines
from stackcost.analysis.memory.memory_total import HoldTrials
from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import Spread
from stackcost.contracts.counts import FramesPassed
from stackcost.contracts.load import HeldFlows
from stackcost.contracts.metrics import SLAB_LEFT
from stackcost.experiment.read_file import read_experiment
from tests.analysis.trials import gauge, hold_trial

COMPARE = Path(__file__).resolve().parents[2] / "experiments" / "compare.yaml"

KERNEL = {"slab.bytes": 3700.0, "sockstat.memory": 20.0, "process.pss": 400.0}
PEER = {"slab.bytes": 1.0, "process.pss": 5.0, "engine.pool_in_use": 320.0}


def of_memory(holds: HoldTrials) -> dict[str, Spread]:
    return computed(OF_MEMORY, holds)


def holds(each: dict[str, float], round_number: int = 1) -> list[Readings]:
    counts = (0, 2000, 10_000)
    return [Readings(hold_trial(count, each, round_number=round_number)) for count in counts]


def test_slope_is_the_cost_of_a_flow_and_intercept_what_was_there() -> None:
    line = lines(holds(KERNEL), {})["kernel slab"]
    assert line.slope == pytest.approx(3700)
    assert line.intercept == pytest.approx(1e6, rel=1e-3)
    assert line.r_squared == pytest.approx(1)


def test_packet_buffers_are_no_flows_memory() -> None:
    with_buffers = holds(PEER)
    for number, seen in enumerate(with_buffers):
        noise = 5e6 * (number % 2)
        seen.trial.samples += gauge(
            "engine.pool_in_use",
            (noise, noise, noise, noise),
            {"engine": "peer", "pool": "packet buffer"},
        )
    line = lines([Readings(seen.trial) for seen in with_buffers], {})["engine pools"]
    assert line.slope == pytest.approx(320)


def test_memory_that_does_not_move_is_a_straight_line() -> None:
    line = fit([(0, 5e6), (1000, 5e6)])
    assert line is not None and (line.slope, line.r_squared) == (0, 1)


def test_one_point_is_no_slope() -> None:
    assert fit([(1000, 5e6), (1000, 6e6)]) is None
    assert not HoldTrials([Readings(hold_trial(2000, KERNEL))], {}).fitted


def test_kernel_stack_counts_slab_buffers_and_process() -> None:
    held = HoldTrials(holds(KERNEL, 1) + holds(KERNEL, 2), {})
    found = of_memory(held)
    assert held.counted == ["kernel slab", "socket buffers", "process"]
    assert found["memory.total"].median == pytest.approx(4120)
    assert len(found["memory.total"].values) == 2, "one slope per round"
    assert found["memory.caches.TCP"].median == pytest.approx(3700)


def test_peer_counts_its_pools_and_shows_its_process_beside_them() -> None:
    held = HoldTrials(holds(PEER), {})
    found = of_memory(held)
    assert held.counted == ["engine pools"]
    assert found["memory.total"].median == pytest.approx(320)
    assert found["memory.per_flow.kernel slab"].median == pytest.approx(1)
    assert found["memory.per_flow.process"].median == pytest.approx(5)


def test_a_round_that_lacks_a_kind_has_no_total() -> None:
    short = {name: size for name, size in KERNEL.items() if name != "process.pss"}
    totals = HoldTrials(holds(KERNEL, 1) + holds(short, 2), {}).per_flow.by_round
    assert totals[1] == pytest.approx(4120)
    assert totals[2] is None


def with_sockets(each: float, held: float = 1.0) -> list[Readings]:
    """Holds with so many TCP sockets of the kernel for each flow; `held`: share of the flows."""
    found = []
    for count in (0, 2000, 8000):
        trial = hold_trial(count, KERNEL)
        load = trial.load_of(HeldFlows)
        load.held_flows = held * count
        labels = {"protocol": "TCP", "state": "inuse"}
        trial.samples += gauge("sockstat.sockets", (5 + each * count,) * 4, labels)
        found.append(Readings(trial))
    return found


@pytest.mark.parametrize("each", [1.0, 0.97, 2.0, 3.02])
def test_sockets_of_servers_and_proxies_are_memory_of_flows(each: float) -> None:
    found = of_memory(HoldTrials(with_sockets(each), {}))
    assert found["memory.total"].median == pytest.approx(4120)


@pytest.mark.parametrize(
    ("each", "held", "why"),
    [
        (1.75, 1.0, r"1.75 TCP sockets for each flow held: memory of other sockets is in it"),
        (0.4, 1.0, r"0.40 TCP sockets for each flow"),
        (0.28, 0.283, r"566 of 2,000 flows were held"),
    ],
)
def test_a_slope_over_something_else_than_flows_is_no_figure(
    each: float, held: float, why: str
) -> None:
    """11,002 B a flow were told plainly with 566 of 2,000 flows held and 1.75 sockets a flow."""
    holds = HoldTrials(with_sockets(each, held), {})
    found = of_memory(holds)
    assert found["memory.total"].median is None
    assert re.match(why, found["memory.total"].reason)
    assert not holds.kinds and found["memory.sockets.own"].median == pytest.approx(each / held)


@pytest.mark.parametrize("each", [0.0, 0.3])
def test_a_device_of_ones_own_needs_no_sockets_for_its_flows(each: float) -> None:
    """Rules of one's own had "0.00 TCP sockets for each flow held" in place of their memory."""
    holds = with_sockets(each)
    for seen in holds:
        seen.trial.server = "site"
        seen.trial.load_of(HeldFlows).frames = {"to servers": FramesPassed(9, 9, 9, 9)}
    assert of_memory(HoldTrials(holds, {}))["memory.total"].median == pytest.approx(4120)


def test_less_than_a_byte_for_each_flow_is_noise() -> None:
    """ "One open flow takes 0.61 bytes" was the answer about a router that tracks none."""
    found = of_memory(HoldTrials(holds({"slab.bytes": 0.6}), {}))
    assert found["memory.total"].median is None
    assert "less than a byte for each flow: this is noise" in found["memory.total"].reason


def test_a_hold_whose_flows_did_not_open_is_the_reason_of_what_is_lacking() -> None:
    why = "only 0 of 8,000 flows opened, at 4000/s"
    found = of_memory(HoldTrials([Readings(hold_trial(0, KERNEL))], {}, [why]))
    assert found["memory.total"].median is None and found["memory.total"].reason == why
    whole = of_memory(HoldTrials(holds(KERNEL), {}, [why]))
    assert whole["memory.total"].median == pytest.approx(4120), "the others are a line without it"


def test_owners_are_of_the_caches_in_the_total_alone() -> None:
    """proc_inode_cache grew by 1,583 bytes a flow, from observers."""
    both = holds(KERNEL)
    for count, seen in zip((0, 2000, 10_000), both, strict=True):
        noise = 1e6 + 1583.0 * count
        labels = {"cache": "proc_inode_cache"}
        seen.trial.samples += gauge("slab.bytes", (noise,) * 4, labels)
        for cache in ("TCP", "proc_inode_cache"):
            seen.trial.samples += gauge(
                SLAB_LEFT.name, (count,) * 4, {"cache": cache, "stack": "f"}
            )
    held = HoldTrials([Readings(seen.trial) for seen in both], {})
    owners = [name for name in of_memory(held) if name.startswith("memory.owners.")]
    assert owners and all("TCP" in name for name in owners)
    assert held.counted_caches == ["TCP"]


def hold_after(
    count: int, sockets: float, objects: Mapping[str, float], number: int = 1
) -> Readings:
    """`sockets` in use, and so many `objects` of 200 B in each cache."""
    trial = hold_trial(count, KERNEL, number=number)
    trial.samples += gauge("slab.active", [sockets] * 4, {"cache": "sock_inode_cache"})
    for cache, there in objects.items():
        trial.samples += gauge("slab.bytes", [200.0 * there] * 4, {"cache": cache})
        trial.samples += gauge("slab.objects", [there] * 4, {"cache": cache})
    return Readings(trial)


@pytest.mark.parametrize("cache", ["dentry", "lsm_inode_cache"])
@pytest.mark.parametrize("of_others", [0, 1, 30])
def test_a_socket_has_one_object_of_a_cache_of_files_whoever_reads_files(
    cache: str, of_others: int
) -> None:
    """`of_others`: objects that other programs make for each flow, by a list of descriptors."""
    holds = [
        hold_after(n, 40 + n, {cache: 5000 + n + of_others * n, "kmalloc-rcl-64": of_others * n})
        for n in (0, 2000, 8000)
    ]
    assert lines(holds, {})["kernel slab"].slope == pytest.approx(3900)
    found = of_memory(HoldTrials(holds, {}))
    assert found[f"memory.caches.{cache}"].median == pytest.approx(200)
    assert found["memory.total"].median == pytest.approx(4320)


def test_a_cache_of_files_that_shares_its_slabs_with_sockets_counts_whole() -> None:
    holds = [hold_after(n, n, {"dentry": 2 * n}) for n in (0, 2000)]
    assert lines(holds, {"dentry": ["filp"]})["kernel slab"].slope == pytest.approx(4100)


def test_what_grows_with_time_is_no_memory_of_flows() -> None:
    order = read_experiment(COMPARE).memory.in_order("established")
    holds = [
        hold_after(count, count, {"kmalloc-512": 1000 * at}, at) for at, count in enumerate(order)
    ]
    drift = abs(lines(holds, {})["kernel slab"].slope - 3700)
    ascending = [
        hold_after(count, count, {"kmalloc-512": 1000 * at}, at)
        for at, count in enumerate(sorted(order))
    ]
    assert drift < 0.2 * abs(lines(ascending, {})["kernel slab"].slope - 3700)


def test_a_process_that_keeps_memory_is_read_on_the_way_up() -> None:
    order, most, holds = (0, 2000, 8000, 4000, 0), 0, []
    for number, count in enumerate(order):
        most = max(most, count)
        trial = hold_trial(count, {"slab.bytes": 3700.0}, number=number)
        trial.samples += gauge("process.pss", [1e7 + 400.0 * most] * 4, {"role": "worker-0"})
        holds.append(Readings(trial))
    assert lines(holds, {})["process"].slope == pytest.approx(400)


def test_caches_that_only_grow_with_time_are_shown_and_not_counted() -> None:
    trials = []
    for count in (0, 2000, 10_000):
        trial = hold_trial(count, KERNEL)
        trial.samples += gauge("slab.bytes", [700.0 * count] * 4, {"cache": "proc_inode_cache"})
        trial.samples += gauge("slab.bytes", [72.0 * count] * 4, {"cache": "anon_vma_chain"})
        trials.append(Readings(trial))
    apart = lines(trials, {})
    assert apart["kernel slab"].slope == pytest.approx(3700)
    assert apart["other slab"].slope == pytest.approx(772)
    merged = lines(trials, {"anon_vma_chain": ["eventpoll_pwq"]})
    assert merged["kernel slab"].slope == pytest.approx(3772), "merged with one of a connection"
    found = of_memory(HoldTrials(trials, {}))
    assert found["memory.total"].median == pytest.approx(4120)
    assert "memory.caches.proc_inode_cache" in found


STACK = "do_syscall_64;{};kmem_cache_alloc_noprof;bpf_trace_run5;bpf_prog_1_allocate"
OWNERS = {("sk_prot_alloc", "left"): 90.0, ("sk_clone_lock", "left"): 30.0}


def with_owners(seen: Readings, counted: Mapping[tuple[str, str], float]) -> Readings:
    for (function, metric), each in counted.items():
        labels = {"cache": "TCP", "stack": STACK.format(function)}
        value = each * (seen.trial.traffic.held_flows or 0) / 100
        seen.trial.samples += gauge(f"slab.{metric}", [value], labels)
    return Readings(seen.trial)


def test_a_cache_is_divided_by_the_functions_that_allocated_what_is_left_of_it() -> None:
    counted = OWNERS | {("sk_prot_alloc", "passed"): 20.0}
    found = of_memory(HoldTrials([with_owners(seen, counted) for seen in holds(KERNEL)], {}))
    assert found["memory.owners.TCP: sk_prot_alloc"].median == pytest.approx(3700 * 3 / 4)
    assert found["memory.owners.TCP: sk_clone_lock"].median == pytest.approx(3700 / 4)
    assert found["memory.passed.TCP: sk_prot_alloc"].median == pytest.approx(0.2)
    assert not [name for name in found if name.startswith("memory.passed.TCP: sk_clone")]


def test_small_owners_are_others_and_a_peers_flows_have_none() -> None:
    small = OWNERS | {("tiny", "left"): 1.0}
    found = of_memory(HoldTrials([with_owners(seen, small) for seen in holds(KERNEL)], {}))
    assert found["memory.owners.TCP: others"].median == pytest.approx(3700 / 121)
    peer = of_memory(HoldTrials([with_owners(seen, small) for seen in holds(PEER)], {}))
    assert not [name for name in peer if name.startswith("memory.owners")]


def test_owners_that_could_not_be_followed_are_unknown_with_the_reason() -> None:
    held = holds(KERNEL)
    for seen in held:
        seen.trial.samples.append(SLAB_LEFT.unknown(1.0, "no BTF"))
    found = of_memory(HoldTrials([Readings(seen.trial) for seen in held], {}))
    assert (found["memory.owners.all"].median, found["memory.owners.all"].reason) == (
        None,
        "no BTF",
    )
