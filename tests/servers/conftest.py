"""One test bed for all tests of a server on the kernel's stack, and a client on that stack."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from stackcost.bed.local import LocalTestbed
from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.placement import Placement
from stackcost.contracts.server import Server, ServerSettings
from stackcost.host.kernel_client import kernel_client
from stackcost.host.kernel_stack import Kernel

S = TypeVar("S", bound=Server)
PLAIN = ServerSettings(32_000, b"GET / HTTP/1.1\r\nHost: 48.0.0.1\r\n\r\n")


@contextmanager
def started(server: S) -> Iterator[S]:
    """The server, started; stopped when the test ends, even in failure."""
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def bed() -> Iterator[LocalTestbed]:
    with LocalTestbed(wanted_hugepages=0) as made, kernel_client():
        yield made


@pytest.fixture
def endpoint(tmp_path: Path) -> Endpoint:
    """Of a bed that is not made."""
    stack = Kernel(Placement("none", "none", (0,), tmp_path))
    return Endpoint("none", "none", (0,), "48.0.0.1", 80, tmp_path, stack)
