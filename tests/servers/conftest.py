"""One test bed for all tests of a server on the kernel's stack, and a client on that stack."""

from collections.abc import Iterator

import pytest

from harness.testbed import network
from harness.testbed.local import LocalTestbed


@pytest.fixture(scope="module")
def bed() -> Iterator[LocalTestbed]:
    with LocalTestbed(wanted_hugepages=0) as made, network.kernel_client():
        yield made
