"""nginx as a cache on the real bed: filled, cold, counted against its origin, gone afterwards."""

import dataclasses
from pathlib import Path

import pytest

from stackcost.bed.local import LocalTestbed
from stackcost.bed.tuning import tier_lacks, tier_of
from stackcost.contracts.program_settings import ProgramSettings
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import read_experiment
from stackcost.files import SERVERS
from stackcost.host import memory_group
from stackcost.host.namespace import processes_inside
from stackcost.servers.own_files import module_of
from stackcost.servers.probe import ask
from stackcost.servers.registry import server_class
from stackcost.session.server_settings import server_settings
from tests.servers.conftest import started

NginxCache = server_class("nginx-cache/kernel")
server = module_of(SERVERS / "nginx_cache/server.py")

EXPERIMENT = Path(__file__).resolve().parents[2] / "experiments" / "cdn_cache.yaml"
EXPERIMENT_READ = read_experiment(EXPERIMENT)  # before a bed narrows the cores that `auto` sees
OBJECTS, FILLED = 20, 0.5


@pytest.mark.bed
def test_objects_are_filled_cold_and_counted(
    bed: LocalTestbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "OBJECTS", OBJECTS)
    monkeypatch.setattr(server, "FILLED", FILLED)
    endpoint = bed.endpoint(tmp_path / "server")
    settings = dataclasses.replace(
        server_settings(EXPERIMENT_READ, NginxCache),
        tier=tier_of("aio-threads"),
        program=ProgramSettings(workers=1, worker_connections=8192),
    )
    cache = NginxCache(endpoint, settings)

    def fetch(path: str, number: int) -> bytes:
        request = f"GET {path} HTTP/1.1\r\nHost: cache\r\nX-Object: {number}\r\n\r\n"
        return ask(endpoint.namespace, endpoint.address, endpoint.port, request.encode()).body

    with started(cache):
        state = cache.before_trial()
        assert state["page_cache_bytes"] == 0
        assert state["memory_limit_bytes"] == cache.describe()["memory_limit_bytes"]
        group = next(Path("/sys/fs/cgroup").glob(f"**/{memory_group.NAME}/cgroup.procs"))
        assert set(map(int, group.read_text().split())) == set(cache.processes().values())
        assert state["cached_bytes"] > OBJECTS * FILLED * sum(settings.files.values())
        misses = cache._misses()
        assert len(fetch("/100000.bin", 3)) == 100_000 and cache._misses() == misses
        assert fetch("/100000.bin", 3) != fetch("/100000.bin", 4), "objects are different ones"
        assert len(fetch("/100000.bin", OBJECTS - 1)) == 100_000
        assert cache._misses() == misses + 1, "one was not filled"
        assert cache.requests_served() == 4
        assert set(cache.processes()) == {"master", "worker-0"}
        assert "aio threads;" in cache.describe()["configuration"]
    assert not group.exists(), "it ends with the cache"
    assert not list((endpoint.folder / "cache").rglob("?" * 32)), "gigabytes would stay otherwise"
    assert not processes_inside(bed.load_namespace) + processes_inside(bed.server_namespace)


def test_hardware_queues_are_a_row_that_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("stackcost.bed.tuning.glob.glob", lambda pattern: [])
    lacking = {each.name: each.lacking for each in variants(EXPERIMENT_READ)}
    assert lacking["nginx-cache/kernel:aio-off"] == lacking["nginx-cache/kernel:aio-threads"] == ""
    told = lacking["nginx-cache/kernel:aio-dlb"]
    assert "/dev/dlb*, which does not exist" in told and "calls dlb_open" in told
    assert "LD_LIBRARY_PATH" in told, "how to get it"
    monkeypatch.setattr("stackcost.bed.tuning.glob.glob", lambda pattern: ["/dev/dlb0"])
    (tmp_path / "nginx").write_bytes(b"\x7fELF\0libdlb.so\0dlb_open\0")
    (tmp_path / "nginx").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert tier_lacks(tier_of("aio-dlb"), 1) == ""
