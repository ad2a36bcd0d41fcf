"""nginx on a host that tracks connections: the kernel tracks each of the load's, and none after."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from stackcost.bed.local import LocalTestbed
from stackcost.host.namespace import execute
from stackcost.servers.registry import server_class
from tests.servers.conftest import PLAIN, started

pytestmark = pytest.mark.bed
FETCH: Sequence[str] = ("ab", "-q", "-n", "50", "-c", "5", "http://48.0.0.1/")


def tracked(bed: LocalTestbed) -> int:
    """Connections in the table of the server's namespace."""
    return int(execute(bed.server_namespace, ["sysctl", "-n", "net.netfilter.nf_conntrack_count"]))


@pytest.mark.parametrize(("name", "entries"), [("nginx/kernel", 0), ("nginx-tracked/kernel", 50)])
def test_each_connection_is_tracked_where_the_host_does_so(
    bed: LocalTestbed, tmp_path: Path, name: str, entries: int
) -> None:
    with started(server_class(name)(bed.endpoint(tmp_path), PLAIN)) as server:
        server.reset()
        assert tracked(bed) == 0 and server.requests_served() == 0
        execute(bed.load_namespace, FETCH)
        assert server.requests_served() == 50
        assert tracked(bed) == entries
        server.reset()
        assert tracked(bed) == 0
    assert execute(bed.server_namespace, ["nft", "list", "tables"]) == ""
