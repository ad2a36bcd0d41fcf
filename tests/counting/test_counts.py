"""The plugin's counts become instructions by task, section, mode and function."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import COUNT_INSTRUCTIONS, COUNT_STRING_BYTES, COUNT_SYSTEM_CALLS
from stackcost.contracts.sample import Sample
from stackcost.contracts.window import Window
from stackcost.counting.counts import (
    ONLOAD_WORK,
    RCU_CALLBACKS,
    Count,
    Where,
    read_counts,
    samples_of,
)
from stackcost.counting.guest import sections_of
from stackcost.counting.processes import MAPPED, pages_of
from stackcost.counting.symbols import Symbols

KERNEL = "ffffffff81000000 T tcp_ack\nffffffff81000100 t memset\nffffffff81000200 D no_code\n"
SYMBOLS = Symbols(KERNEL, {0x2000: "nginx", 0x2001: "libc.so.6"})


def counted(folder: Path, *lines: str) -> dict[Where, Count]:
    file = folder / "counts.0"
    file.write_text("".join(f"{line}\n" for line in lines))
    return read_counts(file, SYMBOLS)


ACK, SET = "ffffffff810000", "ffffffff810001"


@pytest.mark.parametrize(
    ("blocks", "mode", "function", "count"),
    [
        ([f"{ACK}10 0 5 0 0 3"], "kernel", "tcp_ack", Count(15, 0)),
        ([f"{ACK}10 0 5 0 0 3", f"{ACK}f0 0 2 0 0 4"], "kernel", "tcp_ack", Count(23, 0)),
        (  # at its begin a function is called
            [f"{ACK}00 0 5 0 0 3", f"{ACK}00 0 2 0 0 1", f"{ACK}10 0 5 0 0 9"],
            *("kernel", "tcp_ack", Count(15 + 2 + 45, 0, 4)),
        ),
        # A repetition counts its bytes and no instruction.
        ([f"{SET}08 0 1 8 0 4096"], "kernel", "memset", Count(0, 32768)),
        # From QEMU 8 on all programs have one block of a library, with the address that the first
        # one had, where another program has another file: its place in memory tells it.
        (["555555554010 2001f00 7 0 0 1"], "user", "libc.so.6", Count(7, 0)),
    ],
)
def test_blocks_are_counted_by_function(
    blocks: list[str], mode: str, function: str, count: Count, tmp_path: Path
) -> None:
    found = counted(tmp_path, "switches 2", "task nginx|", *blocks)
    assert found == {Where("nginx", "", mode, function): count}


def test_system_calls_are_the_servers_own_by_name() -> None:
    counts = {
        Where("nginx", "", "kernel", "__x64_sys_writev"): Count(90, 0, 3),
        Where("nginx", "", "kernel", "tcp_ack"): Count(10, 0, 5),
        Where("data-0", "", "kernel", "__x64_sys_ppoll"): Count(10, 0, 7),
    }
    calls = [
        (sample.time, sample.labels, sample.value)
        for sample in samples_of(counts, {"nginx"}, Window(1.0, 2.0))
        if sample.metric == COUNT_SYSTEM_CALLS.name
    ]
    labels = {"task": "nginx", "call": "writev"}
    assert calls == [(1.0, labels, 0), (2.0, labels, 3)]


def test_a_section_is_told_apart_from_the_task_that_it_interrupts(tmp_path: Path) -> None:
    lines = "ffffffff81000010 0 5 0 0 3", "ffffffff81000010 0 5 0 1 2"
    found = counted(tmp_path, "task nginx|", "task nginx|receive", *lines)
    assert found[Where("nginx", "receive", "kernel", "tcp_ack")] == Count(10, 0)
    assert found[Where("nginx", "", "kernel", "tcp_ack")] == Count(15, 0)


def test_user_mode_is_told_by_the_file_with_the_code(tmp_path: Path) -> None:
    lines = "555555554010 2000010 7 0 0 1", "10 0 1 0 1 1"
    found = counted(tmp_path, "task nginx|", "task other|", *lines)
    assert found[Where("nginx", "", "user", "nginx")] == Count(7, 0)
    assert found[Where("other", "", "user", "?")] == Count(1, 0)


def test_pages_are_those_that_are_in_memory(tmp_path: Path) -> None:
    told = """name libc.so.6
 8600000000002001 0000000000000000
 8600000000002003
name
 8600000000002004
"""
    assert pages_of(told) == {0x2001: "libc.so.6", 0x2003: "libc.so.6", 0x2004: "?"}


def test_a_shell_tells_the_pages_of_a_session() -> None:
    command = ["cat"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, start_new_session=True, text=True, **pipes) as program:
        assert program.stdin and program.stdout
        program.stdin.write("up\n")
        program.stdin.flush()
        program.stdout.readline()
        script = MAPPED.format(session=program.pid)
        told = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
        program.stdin.close()
    assert "name libc.so.6" in told.stdout and "name cat" in told.stdout


@pytest.mark.parametrize(
    "line", ["ffffffff81000010 0 5 0 9 3", "ffffffff81000010 0 5", "x 0 y z 0 1"]
)
def test_counts_that_are_not_whole_are_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(StackcostError, match="cannot be read"):
        counted(tmp_path, "task nginx|", line)


def test_only_the_servers_own_work_is_the_servers() -> None:
    counts = {
        Where("nginx", "", "kernel", "tcp_ack"): Count(10, 4),
        Where("nginx", "receive", "kernel", "tcp_ack"): Count(20, 0),
        Where("data-0", "", "user", "astf-engine"): Count(30, 0),
    }
    samples = list(samples_of(counts, {"nginx"}, Window(1.0, 2.0)))

    def last(side: str, metric: str) -> list[float | None]:
        return [s.value for s in samples if _is(s, side, metric) and s.time == 2.0]

    assert last("server", COUNT_INSTRUCTIONS.name) == [10]
    assert last("server", COUNT_STRING_BYTES.name) == [4]
    assert sorted(filter(None, last("other", COUNT_INSTRUCTIONS.name))) == [20, 30]


def test_work_handed_over_is_the_servers_whichever_task_does_it() -> None:
    counts = {
        Where("nginx", RCU_CALLBACKS, "kernel", "file_free_rcu"): Count(10, 0),
        Where("swapper/0", RCU_CALLBACKS, "kernel", "file_free_rcu"): Count(20, 0),
        Where("kworker/u3:2", ONLOAD_WORK, "kernel", "ci_netif_poll_n [onload]"): Count(5, 0),
        Where("kworker/u3:2", "", "kernel", "__schedule"): Count(3, 0),
        Where("kworker/u3:0", "", "kernel", "__schedule"): Count(1, 0),
        Where("kworker/u3:0", "receive", "kernel", "tpacket_rcv"): Count(50, 0),
        Where("kworker/0:1", ONLOAD_WORK, "kernel", "ci_netif_poll_n [onload]"): Count(5, 0),
        Where("kworker/0:1", "", "kernel", "vmstat_update"): Count(7, 0),
        Where("nginx", "interrupt", "kernel", "tick_sched_timer"): Count(40, 0),
    }
    last = Counter[tuple[str, str]]()
    for sample in samples_of(counts, {"nginx"}, Window(1.0, 2.0)):
        last[sample.labels["side"], sample.labels["task"]] += int(sample.value or 0)
    assert last == {
        ("server", "RCU callbacks"): 30,
        ("server", "Onload work"): 5 + 5 + 3 + 1,
        ("other", "kworker/u3:0"): 50,
        ("other", "kworker/0:1"): 7,
        ("other", "nginx"): 40,
    }


def _is(sample: Sample, side: str, metric: str) -> bool:
    return sample.metric == metric and sample.labels["side"] == side


def test_functions_of_onloads_modules_are_told_with_the_module() -> None:
    kernel = "ffffffff81000000 T tcp_ack\nffffffffc0000000 t tcp_ack\t[onload]\n"
    symbols = Symbols(f"{kernel}ffffffffc0000100 t nft_do_chain\t[nf_tables]\n", {})
    places = 0xFFFFFFFF81000000, 0xFFFFFFFFC0000010, 0xFFFFFFFFC0000110
    found = [symbols.function(place, 0) for place in places]
    assert found == ["tcp_ack", "tcp_ack [onload]", "nft_do_chain"]


def test_a_function_ends_where_the_next_one_begins() -> None:
    assert SYMBOLS.bounds("tcp_ack") == (0xFFFFFFFF81000000, 0xFFFFFFFF81000100)
    assert SYMBOLS.bounds("unknown") is None


def test_the_plugin_is_told_where_softirqs_and_interrupts_begin_and_end() -> None:
    names = "run_timer_softirq handle_softirqs asm_sysvec_apic_timer_interrupt asm_common_interrupt"
    kernel = "".join(
        f"{0xFFFFFFFF81000000 + 16 * at:x} T {name}\n"
        for at, name in enumerate([*names.split(), "native_irq_return_iret", "end"])
    )
    assert sections_of(kernel).splitlines() == [
        "timers ffffffff81000000 ffffffff81000010 ffffffff81000020",
        "interrupt ffffffff81000020 ffffffff81000040 ffffffff81000041",
        "interrupt ffffffff81000030 ffffffff81000040 ffffffff81000041",
    ]
