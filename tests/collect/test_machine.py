"""The description of the machine: whole, plain JSON, and true where it can be checked."""

import json
import os
import platform
from pathlib import Path

import pytest

from harness.collect import kernel
from harness.collect.machine import describe_machine


def test_everything_is_plain_json_and_describes_this_machine() -> None:
    machine = describe_machine()
    assert json.loads(json.dumps(machine)) == machine
    assert machine["kernel"]["release"] == platform.release()
    assert len(machine["processors"]["online"]) == os.cpu_count()
    assert machine["processors"]["mitigations"]
    assert machine["sysctls"]["fs.nr_open"] == Path("/proc/sys/fs/nr_open").read_text().strip()
    assert machine["versions"]["psutil"]
    assert len(machine["source"]["commit"]) == 40


@pytest.mark.parametrize(
    ("configuration", "mode"),
    [
        ("CONFIG_TICK_CPU_ACCOUNTING=y\n# CONFIG_IRQ_TIME_ACCOUNTING is not set\n", "tick"),
        (
            "CONFIG_TICK_CPU_ACCOUNTING=y\nCONFIG_IRQ_TIME_ACCOUNTING=y\n",
            "tick, interrupts exact",
        ),
        ("CONFIG_VIRT_CPU_ACCOUNTING_GEN=y\n", "exact"),
        (None, "unknown"),
    ],
)
def test_how_the_kernel_accounts_time(
    monkeypatch: pytest.MonkeyPatch, configuration: str | None, mode: str
) -> None:
    monkeypatch.setattr(kernel, "_configuration", lambda: configuration)
    assert kernel.accounting_mode() == mode
