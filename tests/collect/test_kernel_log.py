"""Messages of trouble are counted from the kernel's own log."""

import os
from pathlib import Path

import pytest

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import flags_of
from stackcost.collect import kernel_log
from stackcost.collect.kernel_log import KINDS, KernelLog, kinds_of
from stackcost.contracts.errors import StackcostError
from tests.analysis.trials import counter, load_trial

EXAMPLES = {  # as kernels print them
    "soft lockup": "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [made:1]",
    "hung task": "INFO: task made:1 blocked for more than 120 seconds.",
    "RCU stall": "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "page allocation failure": "made: page allocation failure: order:0, mode:0x1080020",
    "out of memory": "Out of memory: Killed process 1 (made)",
    "SYN flooding": "TCP: request_sock_TCP: Possible SYN flooding on port 192.0.2.1:80.",
    "connection tracking table full": "nf_conntrack: nf_conntrack: table full, dropping packet",
    "neighbour table overflow": "neighbour: arp_cache: neighbor table overflow!",
    "transmit timeout": "NETDEV WATCHDOG: CPU: 1: transmit queue 0 timed out 5000 ms",
}


def counts(log: KernelLog) -> dict[str, float | None]:
    return {sample.labels["kind"]: sample.value for sample in log.read()}


def write(message: str) -> None:
    with open("/dev/kmsg", "w") as file:  # <7>: debug, so no console shows it
        file.write(f"<7>stackcost's own test: {message}\n")


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_is_of_one_kind(kind: str) -> None:
    assert kinds_of(EXAMPLES[kind]) == [kind]


@pytest.mark.skipif(not os.access("/dev/kmsg", os.W_OK), reason="writing to the log needs root")
def test_messages_are_counted_from_the_start_on() -> None:
    write("Possible SYN flooding")  # before the start: not counted
    with KernelLog() as log:
        assert counts(log) == dict.fromkeys(KINDS, 0)
        write("Possible SYN flooding")
        write("a message of no kind")
        assert counts(log) == dict.fromkeys(KINDS, 0) | {"SYN flooding": 1}
        assert counts(log)["SYN flooding"] == 1, "each record is read once"


def test_a_machine_that_gives_no_access_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kernel_log, "LOG", str(tmp_path / "none"))
    with pytest.raises(StackcostError, match="log cannot be read"):
        KernelLog().start()


def test_a_trial_with_a_new_message_is_flagged_and_one_with_old_ones_is_not() -> None:
    trial = load_trial()
    trial.samples += counter("kernel_log.messages", 2, {"kind": "soft lockup"})
    trial.samples += counter("kernel_log.messages", -2, {"kind": "hung task"})[1:2] * 2
    flags = [flag for flag in flags_of(Readings(trial, (1,))) if "kernel's log" in flag]
    assert len(flags) == 1 and flags[0].endswith("of the kind: soft lockup")
