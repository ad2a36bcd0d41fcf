"""Servers with a stack of their own on the real test bed, and the same one on the kernel's."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from stackcost.bed.local import LocalTestbed
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import Server
from stackcost.experiment.read_file import read_experiment
from stackcost.host.kernel_client import kernel_client
from stackcost.servers.probe import ask
from stackcost.servers.registry import server_class
from stackcost.session.server_settings import server_settings

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
STACKS = read_experiment(EXPERIMENTS / "user_stacks.yaml")
ON_KERNEL, ON_NETSTACK, ON_SMOLTCP = "go/kernel", "go/netstack", "rust/smoltcp"
IN_GVISOR, IN_GVISOR_BY_PTRACE = "nginx/gvisor", "nginx/gvisor-ptrace"


@contextmanager
def served(name: str, folder: Path) -> Iterator[tuple[LocalTestbed, Server]]:
    """The server, on the bed that it asks for; skipped where nothing builds it."""
    kind = server_class(name)
    if missing := kind.lacks():
        pytest.skip(missing)
    kind.build()
    settings = server_settings(STACKS, kind)
    with LocalTestbed(
        kernel_server=kind.kernel_stack, packet_server=kind.packet_socket, wanted_hugepages=0
    ) as bed:
        server = kind.make(bed.endpoint(folder / "server"), settings)
        try:
            server.start()
            bed.steer()
            yield bed, server
        finally:
            server.stop()


@pytest.mark.bed
@pytest.mark.long  # the first time it builds the program
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "name", [ON_KERNEL, ON_NETSTACK, ON_SMOLTCP, IN_GVISOR, IN_GVISOR_BY_PTRACE]
)
def test_a_whole_response_comes_by_the_stack_that_is_named(name: str, tmp_path: Path) -> None:
    with served(name, tmp_path) as (bed, server):
        where = bed.endpoint(tmp_path)
        assert server.response_length() == STACKS.workload.response_bytes
        request = server_settings(STACKS, type(server)).request
        before, asked = server.requests_served(), 20
        with kernel_client():
            lengths = {
                ask(bed.load_namespace, where.address, where.port, request).length
                for _ in range(asked)
            }
        assert lengths == {STACKS.workload.response_bytes}
        after = server.requests_served()
        if name in (IN_GVISOR, IN_GVISOR_BY_PTRACE):
            assert before is None and after is None
        else:
            assert before is not None and after is not None and after - before == asked
        server.check_health()
        number = next(iter(server.processes().values()))
        # Nothing of the kernel's listens for a stack of the program's own.
        listens = (
            f":{where.port:04X} 00000000:0000 0A" in Path(f"/proc/{number}/net/tcp").read_text()
        )
        assert listens is (name == ON_KERNEL)
        assert [role for role in server.processes() if role.startswith("receive-poll")] or listens


def test_a_load_on_another_host_is_refused(tmp_path: Path) -> None:
    kind = server_class(ON_NETSTACK)
    bed = LocalTestbed(wanted_hugepages=0)
    endpoint = replace(bed.endpoint(tmp_path), neighbours=("02:00:00:00:00:01",))
    with pytest.raises(StackcostError, match="the load is on another host"):
        kind.make(endpoint, server_settings(STACKS, kind))
