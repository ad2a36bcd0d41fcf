"""nginx in its namespace: served whole, counted exactly, and gone afterwards."""

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from stackcost.bed.local import LocalTestbed
from stackcost.bed.tuning import tier_of
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.program_settings import ProgramSettings
from stackcost.contracts.tuning import STOCK, Setting
from stackcost.host.namespace import execute, processes_inside
from stackcost.servers.registry import server_class
from tests.servers.conftest import PLAIN, started

NginxKernel = server_class("nginx/kernel")

pytestmark = pytest.mark.bed
URL = "http://48.0.0.1/any/path"


@pytest.fixture
def nginx(bed: LocalTestbed, tmp_path: Path) -> Iterator[NginxKernel]:
    with started(NginxKernel(bed.endpoint(tmp_path), PLAIN)) as server:
        yield server


def fetch(bed: LocalTestbed, form: str, *options: str) -> str:
    """Fetch over the veth by curl; `form` says what of the transfer to print."""
    return execute(
        bed.load_namespace, ["curl", "-sS", "-o", "/dev/null", "-w", form, *options, URL]
    )


def test_responses_come_whole_and_every_request_is_counted_and_none_of_ours(
    bed: LocalTestbed, nginx: NginxKernel
) -> None:
    assert nginx.requests_served() == 0
    status, head, body = fetch(bed, "%{http_code} %{size_header} %{size_download}").split()
    assert status == "200"
    assert nginx.response_length() == int(head) + int(body) == 32_000
    for _ in range(7):
        fetch(bed, "")
    nginx.check_health()
    assert nginx.requests_served() == 8
    execute(bed.load_namespace, ["ab", "-q", "-n", "2000", "-c", "10", URL])
    assert nginx.requests_served() == 2008
    counted = nginx.status()
    assert counted.accepted == counted.handled
    count = "/proc/sys/net/netfilter/nf_conntrack_count"
    tracked = execute(bed.server_namespace, ["sh", "-c", f"[ ! -e {count} ] || cat {count}"])
    assert tracked in ("", "0\n")


def test_asking_moves_no_tcp_counter_and_the_granted_open_files_are_known(
    bed: LocalTestbed, nginx: NginxKernel
) -> None:
    def segments() -> str:
        return execute(bed.server_namespace, ["grep", "Tcp:", "/proc/net/snmp"])

    before = segments()
    nginx.requests_served()
    assert segments() == before
    limits = Path(f"/proc/{nginx.processes()['worker-0']}/limits").read_text()
    assert f"Max open files            {nginx.open_files()} " in limits


def test_a_length_below_that_of_the_headers_is_refused(bed: LocalTestbed, tmp_path: Path) -> None:
    with pytest.raises(StackcostError, match="no response has a total length of 10 bytes"):
        NginxKernel(bed.endpoint(tmp_path), replace(PLAIN, response_bytes=10)).start()
    assert processes_inside(bed.server_namespace) == []


def test_open_flows_need_as_many_files(bed: LocalTestbed, tmp_path: Path) -> None:
    server = NginxKernel(bed.endpoint(tmp_path), replace(PLAIN, open_flows=1 << 31))
    with pytest.raises(StackcostError, match=r"nginx may open .* open flows need 2,147,483,848"):
        server.start()
    assert processes_inside(bed.server_namespace) == []


@pytest.mark.parametrize(("timeout", "server_waits"), [(75, 0), (0, 1)])
def test_the_client_closes_first_unless_set_otherwise(
    bed: LocalTestbed, tmp_path: Path, timeout: int, server_waits: int
) -> None:
    def waiting(namespace: str, port: str) -> int:
        of_ours = ["ss", "-Htan", "state", "time-wait", f"( sport = :{port} or dport = :{port} )"]
        return len(execute(namespace, of_ours).splitlines())

    kept = Setting(value=f"{timeout}s", source="")
    tier = STOCK.model_copy(update={"nginx": {"http": {"keepalive_timeout": kept}}})
    with started(NginxKernel(bed.endpoint(tmp_path), replace(PLAIN, tier=tier))):
        port = fetch(bed, "%{local_port}")
        time.sleep(0.1)
        assert waiting(bed.server_namespace, port) == server_waits
        assert waiting(bed.load_namespace, port) == 1 - server_waits


def test_workers_are_bound_to_the_servers_cores_and_stopping_leaves_the_record_alone(
    bed: LocalTestbed, tmp_path: Path
) -> None:
    two = replace(PLAIN, program=ProgramSettings(workers=2))
    with started(NginxKernel(bed.endpoint(tmp_path), two)) as server:
        processes = server.processes()
        assert sorted(processes) == ["master", "worker-0", "worker-1"]
        assert all(os.sched_getaffinity(pid) == {1} for pid in processes.values())
    assert server.processes() == {}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["error.log", "nginx.conf"]
    with pytest.raises(StackcostError, match=r"48\.0\.0\.1:80"):
        server.check_health()


def test_directives_of_a_tuning_replace_the_usual_ones(bed: LocalTestbed, tmp_path: Path) -> None:
    tuned = replace(PLAIN, tier=tier_of("cookbook"))
    with started(NginxKernel(bed.endpoint(tmp_path), tuned)) as server:
        text = server.describe()["configuration"]
    assert "worker_rlimit_nofile 8388608;" in text and "open_file_cache max=1000" in text
    assert text.count("keepalive_timeout") == 1 and "keepalive_timeout 300s;" in text


def test_a_port_in_use_is_named_and_its_owner_unharmed(
    bed: LocalTestbed, nginx: NginxKernel, tmp_path: Path
) -> None:
    second = NginxKernel(bed.endpoint(tmp_path / "second"), PLAIN)
    with pytest.raises(StackcostError, match=r"48\.0\.0\.1:80 .* is already in use; .*ss -ltnp"):
        second.start()
    nginx.check_health()


def test_a_setting_nginx_refuses_is_reported_in_its_words(
    bed: LocalTestbed, tmp_path: Path
) -> None:
    refused = ProgramSettings.model_construct(worker_connections=-3)
    server = NginxKernel(bed.endpoint(tmp_path), replace(PLAIN, program=refused))
    with pytest.raises(StackcostError, match='nginx did not start: invalid number "-3"'):
        server.start()
    assert processes_inside(bed.server_namespace) == []


def test_an_address_that_is_not_there_is_reported(bed: LocalTestbed, tmp_path: Path) -> None:
    execute(bed.server_namespace, ["ip", "addr", "del", "48.0.0.1/32", "dev", "sc-server0"])
    try:
        with pytest.raises(StackcostError, match="Cannot assign requested address"):
            NginxKernel(bed.endpoint(tmp_path), PLAIN).start()
    finally:
        execute(bed.server_namespace, ["ip", "addr", "add", "48.0.0.1/32", "dev", "sc-server0"])


def test_a_wrong_body_is_no_health(bed: LocalTestbed, nginx: NginxKernel, tmp_path: Path) -> None:
    (tmp_path / "www" / "body").write_bytes(b"short")
    with pytest.raises(StackcostError, match=r"sent \d+ bytes instead of 32000"):
        nginx.check_health()


def test_a_dead_server_is_no_health(bed: LocalTestbed, nginx: NginxKernel) -> None:
    for pid in nginx.processes().values():
        subprocess.run(["kill", "-9", str(pid)], check=False)
    with pytest.raises(StackcostError, match="no HTTP answer"):
        nginx.check_health()


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
