"""nginx as a cache on disk: it is filled from its origin, and cold at the start of every trial.

Origin and generator run on the load's cores. For each requested length there are OBJECTS objects;
most are in the cache from the start, the others are fetched at their first request.
"""

import sys
from pathlib import Path
from typing import Any

import psutil
from typing_extensions import override

from stackcost.collect.blocked import BlockedTime
from stackcost.contracts.collector import Collector
from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import ServerSettings
from stackcost.host import large_folders, memory_group
from stackcost.host.memory_group import limit_memory
from stackcost.host.namespace import spawner
from stackcost.host.program import Program
from stackcost.servers.backend import NginxBackend
from stackcost.servers.nginx_status import affinity_masks, find_build, read_status
from stackcost.servers.probe import ask, ask_each, ensure_port_free
from stackcost.servers.template import render_template
from stackcost.servers.with_backend import WithBackend

from .figures import CacheCollector
from .page_cache import drop, resident_bytes

OBJECTS = 500  # of each length; nginx can select shares in steps of 0.01 %
FILLED = 0.95  # of them, before the first trial
OWN_MEMORY = 64 << 20  # bytes, of nginx itself beside the objects
IN_MEMORY = 0.25  # of the objects' bytes, at most, by a control group
GENERATOR_PORT, ORIGIN_PORT = 8888, 8080
HERE = Path(__file__).parent
GENERATOR = HERE / "generator.py"


class NginxCache(WithBackend):
    """nginx with proxy_cache in its own folder; a tuning's directives say how it reads the disk."""

    name = "nginx-cache/kernel"
    backend_kind = "origin"
    not_counted = "its origin is nginx too, and tasks are told apart by their names"

    def __init__(self, endpoint: Endpoint, settings: ServerSettings):
        super().__init__(endpoint, settings)
        self._generator = Program("the origin's generator", endpoint.folder / "generator.log")
        self._origin = NginxBackend(
            self.upstream, endpoint.folder / "origin", self._origin_configuration(), ORIGIN_PORT
        )
        self._asked_origin = 0
        self._limit: int | None = None
        self._unlimited = ""

    @override
    def start_backend(self) -> None:
        self._start_generator()
        self._origin.start()

    @override
    def depends_on(self) -> dict[str, int]:
        found = {
            "origin": self._origin.process_id,
            "generator": self._generator.process_id,
        }
        return {role: process for role, process in found.items() if process}

    def begin(self) -> None:
        """Start the cache, fill it with objects, and limit its memory and page cache."""
        super().begin()
        self._fill()
        self._limit_memory()

    @override
    def command(self) -> list[str]:
        return [find_build().path, "-p", ".", "-e", "stderr", "-c", "nginx.conf"]

    def write_files(self) -> None:
        """Its configuration; the cache begins empty."""
        (self.endpoint.folder / "temporary").mkdir(exist_ok=True)
        large_folders.make(self.endpoint.folder / "cache")
        (self.endpoint.folder / "nginx.conf").write_text(self._configuration())

    def before_trial(self) -> dict[str, float]:
        """Drop the objects from the page cache, so that they are only on disk."""
        files = self._cached()
        drop(files)
        limit = {} if self._limit is None else {"memory_limit_bytes": float(self._limit)}
        return limit | {
            "cached_bytes": sum(path.stat().st_size for path in files),
            "page_cache_bytes": resident_bytes(files),
        }

    def requests_counted(self) -> int | None:
        """From nginx's status on a UNIX socket, without the status requests themselves."""
        self._own_requests += 1
        return read_status(self.endpoint.folder).requests

    def processes(self) -> dict[str, int]:
        """The master, and its workers in the order they were started."""
        found = super().processes()
        if not found:
            return {}
        (master,) = found.values()
        workers = sorted(
            child.pid
            for child in psutil.Process(master).children()
            if "worker process" in " ".join(child.cmdline())
        )
        return {"master": master} | {f"worker-{at}": pid for at, pid in enumerate(workers)}

    def own_collectors(self) -> list[Collector]:
        """Blocked time of its threads; what the origin and the disk had to give."""
        processes = self.processes()
        return [BlockedTime(processes), CacheCollector(self._misses, processes)]

    def describe(self) -> dict[str, Any]:
        """With the configuration of every part."""
        return super().describe() | {
            "version": find_build().version,
            "configuration": self._configuration(),
            "origin_configuration": self._origin.configuration,
            "objects_of_each_length": OBJECTS,
            "filled": FILLED,
            "memory_limit_bytes": self._limit,
            "memory_not_limited": self._unlimited,
            "before_trial": "page cache of the cached files dropped (posix_fadvise DONTNEED)",
        }

    def stop(self) -> None:
        """End the cache and delete its files, then end the backends."""
        super().stop()
        self._origin.stop()
        self._generator.end()
        memory_group.remove()
        large_folders.remove()

    def _limit_memory(self) -> None:
        """Where no control group can, the cache is only cold at the start, and says so."""
        limit = int(IN_MEMORY * OBJECTS * sum(self.settings.files.values())) + OWN_MEMORY
        try:
            limit_memory(self.processes().values(), limit)
        except StackcostError as error:
            self._unlimited = str(error)
        else:
            self._limit = limit

    def _misses(self) -> int:
        self._asked_origin += 1
        return self._origin.requests() - self._asked_origin

    def _cached(self) -> list[Path]:
        return [path for path in (self.endpoint.folder / "cache").rglob("*") if path.is_file()]

    def _start_generator(self) -> None:
        host = self.upstream
        ensure_port_free(host.namespace, host.address, GENERATOR_PORT)
        self.endpoint.folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, str(GENERATOR), host.address, str(GENERATOR_PORT)]
        self._generator.start(spawner(host.namespace, host.cpus), command)
        if not self._generator.wait_until_up(self._generator_answers):
            raise self._generator.start_error()

    def _generator_answers(self) -> bool:
        request = b"GET /1.bin HTTP/1.1\r\n\r\n"
        try:
            ask(self.upstream.namespace, self.upstream.address, GENERATOR_PORT, request)
        except StackcostError:
            return False
        return True

    def _fill(self) -> None:
        """Request the first objects of each length, each by its number."""
        wanted = [(path, n) for path in self.settings.files for n in range(int(OBJECTS * FILLED))]
        where = self.endpoint
        requests = (
            f"GET {path} HTTP/1.1\r\nHost: cache\r\nX-Object: {number}\r\n\r\n".encode()
            for path, number in wanted
        )
        for response in ask_each(where.namespace, where.address, where.port, requests):
            if response.status != 200:
                raise StackcostError(f"the origin answered {response.status}", f"see {self.log}")
        self._own_requests += len(wanted)

    def _origin_configuration(self) -> str:
        return render_template(
            HERE / "origin.conf.j2",
            address=self.upstream.address,
            port=ORIGIN_PORT,
            generator=GENERATOR_PORT,
            proxying_modules=find_build().proxying_modules,
        )

    def _configuration(self) -> str:
        directives = self.settings.tier.directives()
        usual = {"sendfile": "on", "keepalive_timeout": "75s", "keepalive_requests": "1000000"}
        return render_template(
            HERE / "cache.conf.j2",
            workers=self.workers,
            affinity_masks=affinity_masks(self.workers, self.endpoint.cpus),
            worker_connections=self.settings.program.worker_connections,
            directives={
                "main": directives.get("main", {}),
                "events": directives.get("events", {}),
                "http": usual | directives.get("http", {}),
            },
            proxying_modules=find_build().proxying_modules,
            objects=OBJECTS,
            upstream=self.upstream.address,
            origin=ORIGIN_PORT,
            address=self.endpoint.address,
            port=self.endpoint.port,
        )
