"""Runs what is to show what an ordinary user sees, where the tests have root."""

import os
import subprocess
import sys

import pytest


def python_without_root(script: str) -> subprocess.CompletedProcess[str]:
    """Run Python code as `nobody`; skips the test that asks where there is no root to give up.

    It may read every file all the same: a clone may lie in root's home, which others cannot enter.
    """
    if os.geteuid() != 0:
        pytest.skip("shows what happens when root is given up")
    reads_all = [f"--{kind}-caps=+dac_read_search" for kind in ("inh", "ambient")]
    return subprocess.run(
        ["setpriv", "--reuid=65534", "--clear-groups", *reads_all, sys.executable, "-c", script],
        capture_output=True,
        text=True,
    )
