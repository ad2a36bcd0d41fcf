"""A network namespace whose loopback interface is up."""

import os
import subprocess
from collections.abc import Iterator

import pytest


@pytest.fixture
def namespace() -> Iterator[str]:
    name = f"stackcost-test-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        yield name
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)
