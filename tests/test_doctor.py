"""What the doctor says of this machine, and of machines that lack something."""

import shutil
import subprocess
from pathlib import Path

import pytest

from stackcost import doctor
from stackcost.doctor import kernel
from stackcost.doctor.check import State
from tests.without_root import python_without_root


def test_every_shortcoming_is_explained() -> None:
    found = doctor.checks()
    assert len({check.name for check in found}) == len(found)
    for check in found:
        assert check.finding.found
        if check.finding.state is State.MISSING:
            assert check.finding.meaning and check.finding.hint, check.name


def test_looking_leaves_nothing_behind() -> None:
    doctor.checks()
    links = subprocess.run(["ip", "link"], capture_output=True, text=True).stdout
    assert "sc-try0" not in links


def test_a_kernel_without_steering_cannot_compare() -> None:
    assert kernel.check_steering({"RPS": "n"}).state is State.MISSING
    assert next(each for each in doctor.checks() if each.name == "receive steering").needed


def test_without_ip_the_hint_is_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unshare = shutil.which("unshare")
    assert unshare
    (tmp_path / "unshare").symlink_to(unshare)
    monkeypatch.setenv("PATH", str(tmp_path))
    check = kernel.check_namespaces()
    assert check.state is State.MISSING and check.hint == "apt-get install iproute2"


@pytest.mark.parametrize(
    ("options", "state"),
    [
        ({"TICK_CPU_ACCOUNTING": "y", "HZ": "250"}, State.LIMITED),
        ({"VIRT_CPU_ACCOUNTING_GEN": "y", "IRQ_TIME_ACCOUNTING": "y"}, State.OK),
        ({}, State.LIMITED),
    ],
)
def test_cpu_accounting_is_judged_by_the_kernels_options(
    options: dict[str, str], state: State
) -> None:
    assert kernel.check_cpu_accounting(options).state is state


def test_without_root_the_verdict_is_no() -> None:
    done = python_without_root("import sys; from stackcost import doctor; sys.exit(doctor.main())")
    assert done.returncode == 1 and "stackcost doctor" in done.stdout, done.stderr
    assert "Fix first: root" in done.stdout
