"""The engine's tests of DPDK ports on huge pages. `script/test` runs them on ordinary pages."""

import os
import subprocess

import pytest

from stackcost.bed import hugepages
from stackcost.bed.local import LocalTestbed
from stackcost.trex.astf_server import engine_path

pytestmark = pytest.mark.bed

TESTS = "AfXdp.*:FullDevice.*:TapPort.*:VlanTag.*"
WANTED = 256  # 512 MB: the tests' packet memory, and room


def test_ports_on_huge_pages() -> None:
    program = engine_path().parent / "tests" / "io-tests"
    if not program.exists():
        pytest.skip("not built: ninja -C build/engine tests/io-tests")
    with LocalTestbed(wanted_hugepages=WANTED) as bed:
        if bed.hugepages.reason:
            pytest.skip(bed.hugepages.reason)
        done = subprocess.run(
            [program, f"--gtest_filter={TESTS}", "--gtest_brief=1"],
            env={**os.environ, "ENGINE_TEST_HUGE_PAGES": "1"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "[  SKIPPED ]" not in done.stdout, done.stdout
    assert hugepages.CHANGED.read() == {}
