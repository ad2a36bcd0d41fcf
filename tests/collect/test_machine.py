"""The description of the machine: whole, plain JSON, and true where it can be checked."""

import json
import os
import platform
import subprocess
from pathlib import Path

import pytest

from stackcost.collect import kernel
from stackcost.collect.machine import describe_machine


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
        ("CONFIG_TICK_CPU_ACCOUNTING=y\nCONFIG_IRQ_TIME_ACCOUNTING=y\n", "tick, interrupts exact"),
        ("CONFIG_VIRT_CPU_ACCOUNTING_GEN=y\n", "exact"),
        (None, "unknown"),
    ],
)
def test_how_the_kernel_accounts_time(
    monkeypatch: pytest.MonkeyPatch, configuration: str | None, mode: str
) -> None:
    monkeypatch.setattr(kernel, "_configuration", lambda: configuration)
    assert kernel.accounting_mode() == mode


def test_the_versions_of_all_that_the_setup_installs_are_reported() -> None:
    """As dpkg has them now, whether or not they were installed by the setup."""
    packages = describe_machine()["debian_packages"]
    wanted = (Path(__file__).parents[2] / "debian-packages.txt").read_text().split()
    assert packages["reason"] == "" and set(wanted) <= packages["versions"].keys()
    said = subprocess.run(
        ["dpkg-query", "-W", "-f=${Version}", "libdpdk-dev"], capture_output=True, text=True
    )
    assert packages["versions"]["libdpdk-dev"] == said.stdout
    assert packages["versions"]["libc6"], "also those that it finds there"


def test_a_package_that_is_not_installed_has_no_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A root folder in which one package is installed, and one was."""
    admin = tmp_path / "var/lib/dpkg"
    (admin / "info").mkdir(parents=True)
    (admin / "status").write_text(
        "Package: nginx-light\nStatus: install ok installed\nArchitecture: all\nVersion: 1.2-3\n"
        "Maintainer: x\nDescription: x\n\n"
        "Package: haproxy\nStatus: deinstall ok config-files\nArchitecture: all\nVersion: 2.6\n"
        "Maintainer: x\nDescription: x\n"
    )
    monkeypatch.setenv("DPKG_ROOT", str(tmp_path))
    versions = describe_machine()["debian_packages"]["versions"]
    assert (versions["nginx-light"], versions["haproxy"], versions["tayga"]) == (
        "1.2-3",
        None,
        None,
    )


def test_where_there_is_no_dpkg_the_versions_are_unknown_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    packages = describe_machine()["debian_packages"]
    assert packages["versions"] is None and "no dpkg-query" in packages["reason"]
