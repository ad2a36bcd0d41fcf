"""A generator that is made up: it opens what it is told to, and answers as astf-engine does."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stackcost.collect.engine import CPU_METHOD, MEMORY_METHOD, SCHEDULE_METHOD
from stackcost.collect.latency import METHOD
from stackcost.contracts.counts import GeneratorShare
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.latency import KINDS
from stackcost.sides.generator import RunningGenerator
from tests.analysis.trials import encoded

METHODS = (CPU_METHOD, MEMORY_METHOD, SCHEDULE_METHOD, METHOD)


class MadeUpGenerator(RunningGenerator):
    """`connections`: that it has opened. `times_us`: of each. `dead`: why it answers no more."""

    def __init__(self, connections: int = 0, times_us: list[int] | None = None, hz: float = 1e9):
        self.connections = connections
        self.times_us = times_us or []
        self.hz = hz
        self.dead = ""
        self.lacks = ""
        self.log: list[Any] = []

    def _lives(self) -> None:
        if self.dead:
            raise StackcostError(self.dead)

    def neighbours(self) -> list[str]:
        return [f"02:00:00:00:00:{self.connections:02x}"]

    def ask_server(
        self, name: str, address: str, port: int, request: bytes, tls: bool = False
    ) -> int:
        return len(request)

    def begin(self) -> None:
        self.log.append("begin")

    def check(self) -> None:
        self._lives()

    def steer(self) -> None:
        self.log.append("steer")

    def load_profile(
        self,
        path: Path,
        tunables: Mapping[str, Any],
        profile: str = "_",
        tls: Mapping[str, Any] | None = None,
    ) -> None:
        self._lives()
        self.log.append(("load", path.name, dict(tunables), profile, *([tls] if tls else [])))

    def set_network(self, settings: Mapping[str, float]) -> None:
        self.log.append(("network", dict(settings)))

    def network_counts(self) -> dict[str, int]:
        return {"frames": self.connections, "lost": 1}

    def start(self, mult: float, duration: float = -1, profile: str = "_") -> None:
        self._lives()
        self.log.append(("start", mult, duration, profile))

    def update(self, mult: float) -> None:
        self._lives()
        self.log.append(("update", mult))

    def is_traffic_active(self) -> bool:
        self._lives()
        return bool(self.connections % 2)

    def stop(self) -> None:
        self._lives()
        self.log.append("stop")

    def stats(self) -> dict[str, Any]:
        self._lives()
        counters = {"tcps_connects": self.connections, "m_avg_size": 700.0, "note": "text"}
        return {
            "traffic": {"client": counters | {"m_traffic_duration": 2.0}, "server": {}},
            "global": {"cpu_util": 50},
            "0": {"opackets": 10 * self.connections, "ipackets": 7},
            "1": {"opackets": 0, "ipackets": 1},
            "total": {"opackets": 0},
        }

    def group_stats(self, profile: str = "_") -> dict[str, Any]:
        self._lives()
        own = {"client": {"tcps_connects": self.connections}, "server": {}}
        return {"web": own, f"only {self.connections}": own}

    def supports(self, method: str) -> bool:
        return method in METHODS and method != self.lacks

    def call(self, method: str, params: dict[str, Any]) -> Any:
        self._lives()
        if method == SCHEDULE_METHOD:
            count = self.connections
            return {"intended": count + 1, "opened": count, "late": 2, "unsent": 1}
        if method == CPU_METHOD:
            cycles = {
                "busy_cycles": self.hz,
                "copying_cycles": 0,
                "sending_cycles": 0,
                "total_cycles": 2 * self.hz,
            }
            return {"tsc_hz": self.hz, "cores": [{"core": 0, "cpu": 3, **cycles}]}
        if method == MEMORY_METHOD:
            pool = {"name": "flows", "object_bytes": 64, "in_use": self.connections}
            return {"pools": [pool | {"reserved_bytes": 1000}]}
        whole = {kind: {"hdr": encoded(Counter(self.times_us))} for kind in KINDS}
        return {"templates": [{"group": "web", **whole}]}

    def data_cpus(self) -> list[int]:
        return [3]

    def shares(self) -> list[GeneratorShare]:
        return []

    def describe(self) -> dict[str, Any]:
        return {"generator": {"program": "astf-engine"}}
