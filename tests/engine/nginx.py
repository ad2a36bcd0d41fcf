"""nginx on the host behind the router."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.interop.bed import HOST, HOST_ADDRESS, HOST_INTERFACE
from stackcost.bed.local import LocalTestbed
from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.placement import Placement
from stackcost.contracts.server import ServerSettings
from stackcost.host.kernel_stack import Kernel
from stackcost.servers.registry import server_class
from tests.servers.conftest import PLAIN, started


@contextmanager
def nginx_on_host(
    bed: LocalTestbed, folder: Path, settings: ServerSettings = PLAIN
) -> Iterator[Any]:
    folder.mkdir(exist_ok=True)
    place = HOST, HOST_INTERFACE, bed.cpus.server
    stack = Kernel(Placement(*place, folder, (HOST_ADDRESS, 80)))
    endpoint = Endpoint(*place, HOST_ADDRESS, 80, folder, stack)
    with started(server_class("nginx/kernel")(endpoint, settings)) as server:
        yield server
