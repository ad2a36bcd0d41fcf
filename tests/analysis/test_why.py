"""Exact times divided by samples: sums, shares, errors, and what the table does not know."""

from math import sqrt

import pytest
from ruamel.yaml import YAML

from stackcost.analysis.cost.core_time import core_seconds
from stackcost.analysis.cost.cpu import server_cost
from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import summarise
from stackcost.analysis.trial.thresholds import SHARE_SAMPLES
from stackcost.analysis.why.attribution import attribution, by_category, why_none
from stackcost.analysis.why.function_table import FILE, UNMATCHED, table
from stackcost.contracts.metrics import RETURNS
from stackcost.contracts.sample import Kind, Sample
from stackcost.contracts.trial import Trial
from tests.analysis.runs import CONTEXT
from tests.analysis.trials import END, START, counter, load_trial

CALL = "entry_SYSCALL_64_after_hwframe;do_syscall_64"
SENDS = f"{CALL};__x64_sys_sendto;__sys_sendto;tcp_sendmsg;tcp_sendmsg_locked"
BOOKS = "bpf_trace_run2;bpf_prog_1_enter_syscall"
ENTRY, ALLOCATION = "system-call entry and exit", "skb and page allocation"
RECEIVES = "ret_from_fork_asm;kthread;napi_threaded_poll;do_softirq;handle_softirqs;net_rx_action"


def sampled(trial: Trial, stacks: dict[tuple[str, str], int], process: str = "7") -> Trial:
    for (kind, stack), count in stacks.items():
        labels = {"cpu": "1", "kind": kind, "process": process, "command": "nginx", "stack": stack}
        trial.samples += counter("stack.samples", count, labels)
    return trial


KNOWN = {
    ("user", "nginx;ngx_http_handler"): 60,
    ("user", "libc.so.6;memcpy"): 40,
    ("system", f"{SENDS};_copy_from_iter"): 300,
    ("system", f"{SENDS};tcp_write_xmit"): 100,
    ("NET_RX", f"{RECEIVES};process_backlog;tcp_v4_rcv"): 3,
    ("NET_RX", f"{RECEIVES};process_backlog;tcp_v4_rcv;nf_hook_slow;nft_do_chain"): 1,
}


def test_the_parts_add_up_to_the_exact_cost_and_have_its_kinds_shares() -> None:
    seen = Readings(sampled(load_trial(), KNOWN), (1,))
    found = attribution(seen)
    cost = server_cost(seen)
    assert found and not found.reason
    for kind in ("user", "system"):
        parts = sum(part.us for part in found.parts if part.kind == kind)
        assert parts == pytest.approx(cost[kind])
    assert sum(part.us for part in found.parts if part.kind == "NET_RX") == pytest.approx(49)
    own = by_category(found.parts)
    assert own["user space, nginx"].us == pytest.approx(6)
    assert own["user space, libc.so.6"].us == pytest.approx(4)
    assert own["copying and checksums"].us == pytest.approx(30)
    assert own["netfilter and connection tracking"].us == pytest.approx(49 / 4)
    assert own["TCP"].us == pytest.approx(10 + 49 * 3 / 4)


def test_a_part_says_on_whose_behalf_it_ran_and_how_sure_its_share_is() -> None:
    found = attribution(Readings(sampled(load_trial(), KNOWN), [1]))
    assert found
    (copied,) = (part for part in found.parts if part.category == "copying and checksums")
    assert copied.behalf == "system call sendto"
    likely = 300.5 / 501  # of all samples of the server's tasks
    assert copied.error == pytest.approx(50 * sqrt(likely * (1 - likely) / 500))
    (filtered,) = (part for part in found.parts if part.category.startswith("netfilter"))
    assert filtered.behalf == "softirq NET_RX"


def test_a_category_that_has_all_samples_of_a_kind_is_not_without_error() -> None:
    for count in (1, 20):
        trial = sampled(load_trial(), {("user", "nginx;ngx_http_handler"): count})
        found = attribution(Readings(trial, [1]))
        assert found
        (own,) = (part for part in found.parts if part.category == "user space, nginx")
        assert own.us == pytest.approx(10)
        assert 10 / (2 * count) < own.error * sqrt(2) < 10 / count, "about one sample's"


def test_only_samples_inside_the_window_divide_its_time() -> None:
    trial = sampled(load_trial(), KNOWN)
    for stack, count in {
        "late;late": {START - 5: 900, END + 3: 1800},
        "earlier;trial": {START + 1: 900, START + 2: 905},  # not seen in this one before
    }.items():
        labels = {"cpu": "1", "kind": "user", "process": "7", "command": "nginx", "stack": stack}
        trial.samples += [
            Sample(moment, "stack.samples", labels, value, "1", Kind.COUNTER, "made")
            for moment, value in count.items()
        ]
    found = attribution(Readings(trial, [1]))
    assert found
    own = by_category(found.parts)
    assert "user space, late" not in own
    assert own["user space, earlier"].us == pytest.approx(50 * 5 / 505)


def test_samples_of_the_traced_warm_up_do_not_divide_the_windows_time() -> None:
    """Stacks are read right after an edge, so the reading before it is of the warm-up."""
    trial = load_trial()
    for kind, counts in {
        "user": (100, 180, 274, 280),  # traced system calls are found in user mode
        "system": (10, 30, 406, 430),
    }.items():
        labels = {
            "cpu": "1",
            "process": "7",
            "command": "nginx",
            "kind": kind,
            "stack": f"{kind};a",
        }
        moments = (START - 0.6, START + 0.01, END - 0.6, END + 0.01)
        trial.samples += [
            Sample(moment, "stack.samples", labels, value, "1", Kind.COUNTER, "made")
            for moment, value in zip(moments, counts, strict=True)
        ]
    share = 100 / 500  # of those between the edges
    assert server_cost(Readings(trial, (1,)))["user"] == pytest.approx(50 * share, rel=0.02)


def test_entry_and_return_of_system_calls_are_no_time_of_user_mode() -> None:
    around = {
        ("user", CALL): 30,
        ("user", f"{CALL};exit_to_user_mode_loop;task_work_run;__fput"): 10,
        ("user", f"libc.so.6;getppid;{RETURNS}"): 40,
    }
    seen = Readings(sampled(load_trial(), KNOWN | around), (1,))
    found = attribution(seen)
    assert found
    own = {name: part.us for name, part in by_category(found.parts).items()}
    # Of 580 samples of 50 us 100 are the program's.
    assert own["system-call entry and exit"] == pytest.approx(50 * 70 / 580)
    assert own["VFS and sendfile"] == pytest.approx(50 * 10 / 580)
    assert own["user space, libc.so.6"] == pytest.approx(50 * 40 / 580)
    assert own["copying and checksums"] == pytest.approx(50 * 300 / 580)
    cost = server_cost(seen)
    assert cost["user"] == pytest.approx(50 * 100 / 580)
    assert sum(part.us for part in found.parts if part.kind == "user") == pytest.approx(
        cost["user"]
    )


def test_the_windows_samples_divide_user_from_system_and_a_few_do_not() -> None:
    """The traced warm-up says 80 % user mode, the samples 20 %."""
    for each, share in ((300, 0.2), (10, 0.8)):
        trial = load_trial()
        for kind, seconds in (("user", 0.8), ("system", 0.2)):
            trial.samples.append(
                Sample(
                    START,
                    "task.traced_time",
                    {"process": "7", "kind": kind},
                    seconds,
                    "s",
                    Kind.GAUGE,
                    "made",
                )
            )
        stacks = {("user", "nginx;main"): each // 5, ("system", f"{CALL};ksys_read"): each * 4 // 5}
        seen = Readings(sampled(trial, stacks), (1,))
        cost = server_cost(seen)
        assert cost["user"] == pytest.approx(50 * share), "of 50 us of the process"
        core = core_seconds(seen, 1)
        if each >= SHARE_SAMPLES:
            assert core and core.user == pytest.approx(share * (core.user + (core.system or 0)))


def test_other_programs_do_not_divide_the_servers_time() -> None:
    trial = sampled(load_trial(), KNOWN)
    sampled(trial, {("system", f"{CALL};ksys_read;vfs_read"): 5000}, process="99")
    found = attribution(Readings(trial, [1]))
    assert found and "VFS and sendfile" not in by_category(found.parts)


def test_above_three_percent_of_unknown_functions_there_is_only_their_share_and_names() -> None:
    few = KNOWN | {("system", f"{CALL};made_up_for_a_test"): 4}
    many = KNOWN | {("system", f"{CALL};made_up_for_a_test"): 40}
    kept, refused = (summarise([sampled(load_trial(), each)], CONTEXT) for each in (few, many))
    assert kept.servers[0].levels[0].kinds("why")[UNMATCHED].median == pytest.approx(50 * 4 / 504)
    (only,) = refused.servers[0].levels[0].kinds("why").values()
    assert only.median is None
    assert only.reason.startswith("3.7%") and "made_up_for_a_test" in only.reason


def test_without_samples_the_reason_of_the_collector_is_told() -> None:
    trial = load_trial()
    told = "perf_event_open needs root"
    trial.samples.append(
        Sample(START, "stack.samples", {}, None, "1", Kind.COUNTER, "made", reason=told)
    )
    assert attribution(Readings(trial, [1])) is None
    assert why_none(Readings(trial, [1])) == told


def test_of_a_peer_the_calls_that_send_are_divided_and_the_polling_loop_is_not() -> None:
    trial = load_trial("astf-peer", microseconds={"busy": 44, "copying": 4, "sending": 30})
    sampled(
        trial,
        {
            ("user", "astf-engine;DataCore::advance"): 9000,
            ("system", f"{CALL};__x64_sys_sendto;xsk_sendmsg;__dev_direct_xmit;veth_xmit"): 10,
            ("system", f"{CALL};__x64_sys_sendto;xsk_sendmsg;skb_copy_bits"): 20,
            ("system", f"{CALL};__x64_sys_sched_yield;do_sched_yield"): 700,
        },
    )
    trial.samples += counter(
        "process.cpu_time", 1, {"role": "peer", "process": "7", "kind": "user"}
    )
    found = attribution(Readings(trial, [1]))
    assert found
    own = {name: part.us for name, part in by_category(found.parts).items()}
    assert own == pytest.approx(
        {
            "user space, astf-engine": 10,
            "copy of payload into packets": 4,
            "the device (veth, XDP, qdisc)": 10,
            "copying and checksums": 20,
        }
    )


def test_interrupts_are_told_by_their_vectors_and_the_clocks_own_are_the_measurements() -> None:
    trial = sampled(load_trial(), KNOWN)
    for vector, seconds in (("local_timer", 0.006), ("device", 0.004)):
        trial.samples += counter("irq.time", seconds, {"cpu": "1", "vector": vector})
    trial.samples += counter("irq.count", 12_000, {"cpu": "1", "vector": "local_timer"})
    trial.samples += counter("stack.fired", 9_000, {"cpu": "1"})
    found = attribution(Readings(trial, [1]))
    assert found
    own = by_category([part for part in found.parts if part.kind == "irq"])
    assert own["the measurement itself"].us == pytest.approx(0.45)
    assert own["timers"].us == pytest.approx(0.15)
    assert own["entry of interrupts and softirqs"].us == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("stack", "category"),
    [
        (SENDS, "TCP"),
        (f"{SENDS};_raw_spin_unlock_irqrestore", "TCP"),
        (f"{SENDS};_raw_spin_lock_bh", "locks"),
        (f"{SENDS};a_function_of_a_later_kernel", "TCP"),
        (f"{CALL};a_function_of_a_later_kernel", UNMATCHED),
        (CALL, "system-call entry and exit"),
        (f"{CALL};{BOOKS};ktime_get_mono_fast_ns;read_tsc", "the measurement itself"),
        (f"{RECEIVES};process_backlog;veth_xmit;__napi_schedule", "scheduling and waking"),
        (f"{RECEIVES};ip_rcv;nf_hook_slow;nft_do_chain", "netfilter and connection tracking"),
        (f"{SENDS};tcp_gso_segment;skb_segment", "segmentation and coalescing (GSO, GRO)"),
        (f"{SENDS};__alloc_skb;kmem_cache_alloc_node_noprof", "skb and page allocation"),
        (f"{RECEIVES};ip_rcv;nft_do_chain;memcpy", "netfilter and connection tracking"),
        (f"{SENDS};skb_copy_bits;memcpy", "copying and checksums"),
        (f"{SENDS};tls_sw_sendmsg;gcmaes_encrypt", "encryption in the kernel (kTLS)"),
    ],
)
def test_a_stack_has_the_category_of_its_innermost_known_function(
    stack: str, category: str
) -> None:
    assert table().find(stack).category == category


SENDFILE = f"{CALL};__x64_sys_sendfile64;do_sendfile;splice_direct_to_actor;direct_splice_actor"
PAGE = "generic_splice_sendpage;pipe_to_sendpage;sock_sendpage;kernel_sendpage;inet_sendpage"


@pytest.mark.parametrize(
    ("stack", "category"),
    [
        ("__do_softirq;run_rebalance_domains;rebalance_domains", "scheduling and waking"),
        (f"{CALL};__x64_sys_close;close_fd;pick_file", "VFS and sendfile"),
        (f"{SENDFILE};{PAGE};tcp_sendpage;do_tcp_sendpages", "TCP"),
        (f"{SENDFILE};{PAGE}", "sockets and epoll"),
        (f"{SENDS};_copy_from_iter;copy_user_enhanced_fast_string", "copying and checksums"),
        (f"{SENDS};__kmalloc_node_track_caller;___slab_alloc;__unfreeze_partials", ALLOCATION),
        (f"{CALL};syscall_exit_to_user_mode;exit_to_user_mode_prepare", ENTRY),
        (f"{CALL};syscall_enter_from_user_mode", ENTRY),
    ],
)
def test_functions_that_only_the_kernel_of_debian_12_has_are_known(
    stack: str, category: str
) -> None:
    """The innermost names are of Linux 6.1, and 6.18 has none of them."""
    assert table().find(stack).category == category


def test_a_function_that_switches_interrupts_on_is_in_the_band() -> None:
    assert table().find(f"{SENDS};_raw_spin_unlock_irqrestore").interrupts_off
    assert table().find(f"{CALL};syscall_enter_from_user_mode").interrupts_off  # of 6.1
    assert not table().find(SENDS).interrupts_off


def test_no_name_of_the_table_is_hidden_by_an_earlier_category() -> None:
    written = YAML(typ="safe").load(FILE.read_text())["categories"]
    found = {
        name: category
        for category, names in written.items()
        for name in names
        if table().category(name.replace("*", "0")) != category
    }
    assert not found
