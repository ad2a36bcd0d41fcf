"""Figures that a generator or a peer reports by RPC: counters, cycles, memory pools.

TRex has the counters, and an account of its data cores' time (`TrexTime`). Figures that its API
lacks are unknown there, never 0.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from stackcost.contracts.collector import Collector
from stackcost.contracts.load.base import TLS_FAILED
from stackcost.contracts.metrics import (
    ENGINE_BUSY_TIME,
    ENGINE_COPYING_TIME,
    ENGINE_DROPS,
    ENGINE_PATH_MTU,
    ENGINE_PATH_MTU_MESSAGES,
    ENGINE_POOL_IN_USE,
    ENGINE_POOL_RESERVED,
    ENGINE_SENDING_TIME,
    ENGINE_TIME,
    TREX_COUNTER,
)
from stackcost.contracts.sample import Kind, Metric, Sample

CPU_METHOD, MEMORY_METHOD = "stackcost_get_cpu", "stackcost_get_memory"
SCHEDULE_METHOD = "stackcost_get_schedule"
DROPS_METHOD = "stackcost_get_drops"
TLS_METHOD = "stackcost_get_tls"
TLS_KEYS_METHOD = "stackcost_take_tls_keys"
PROFILE = "_"  # the one that the harness loads
UTILIZATION = "get_utilization"  # of TRex, in percent
TLS_COUNTER = replace(TREX_COUNTER, source=f"RPC {TLS_METHOD}")
TREX_BUSY_TIME = replace(
    ENGINE_BUSY_TIME, source=f"TRex {UTILIZATION} cpu history, newest, over time"
)
TREX_WHOLE_TIME = replace(ENGINE_TIME, source=f"TRex {UTILIZATION}: time between reads")
SHARED_CORE = (
    "TRex runs control and data on one core; there its own account of its work is wrong, and "
    "the time of its threads includes polling"
)
OBJECTS = Metric("engine.pool_objects", "1", Kind.GAUGE, f"RPC {MEMORY_METHOD} in_use")
STARTS = Metric("engine.starts", "1", Kind.COUNTER, f"RPC {SCHEDULE_METHOD}")


class EngineClient(Protocol):
    """The part of stackcost.trex.client.TrexClient that is needed here."""

    def stats(self) -> dict[str, Any]:
        """TRex's get_stats()."""

    def supports(self, method: str) -> bool:
        """Whether the server has this RPC method."""

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """The result of an RPC method."""


class Engine(Collector):
    """Reads one engine. `engine`: what it is in this trial, "generator" or "peer". `tls`: whether
    its clients use TLS.
    """

    metrics = (
        TREX_COUNTER,
        ENGINE_DROPS,
        ENGINE_POOL_IN_USE,
        OBJECTS,
        ENGINE_PATH_MTU,
        ENGINE_PATH_MTU_MESSAGES,
        ENGINE_POOL_RESERVED,
        STARTS,
    )

    def __init__(self, engine: str, client: EngineClient, tls: bool = False):
        self.name = engine
        self._client = client
        self._tls = tls
        self._labels = {"engine": engine}

    def read(self) -> list[Sample]:
        """Traffic counters of both sides, what was given up, memory of each pool, the schedule."""
        return [*self._counters(), *self._drops(), *self._pools(), *self._starts()]

    def _counters(self) -> Iterable[Sample]:
        tls = self._client.call(TLS_METHOD, {"profile_id": PROFILE}) if self._tls else {}
        traffic = self._client.stats()["traffic"]
        now = time.monotonic()
        if self._tls:  # beside the others, of the same moment: a difference of both is taken
            failed = sum(template["client"]["failed"] for template in tls["templates"])
            labels = {**self._labels, "side": "client", "counter": TLS_FAILED}
            yield TLS_COUNTER.sample(now, failed, **labels)
        for side in ("client", "server"):
            for counter, value in traffic[side].items():
                if isinstance(value, int | float):
                    labels = {**self._labels, "side": side, "counter": counter}
                    yield TREX_COUNTER.sample(now, value, **labels)

    def _drops(self) -> Iterable[Sample]:
        """Of all cores by reason, "lost" and "refused" by the ports' devices; what routers said was
        too long.
        """
        if not self._client.supports(DROPS_METHOD):
            yield from _lacking(
                DROPS_METHOD, self._labels, ENGINE_DROPS, ENGINE_PATH_MTU, ENGINE_PATH_MTU_MESSAGES
            )
            return
        answer = self._client.call(DROPS_METHOD, {})
        now = time.monotonic()
        found: Counter[str] = Counter()
        for device in answer["devices"]:
            found.update(lost=device["lost"], refused=device["refused"])
        for core in answer["cores"]:
            found.update(core["reasons"])
        for reason, number in found.items():
            yield ENGINE_DROPS.sample(now, number, **self._labels, reason=reason)
        paths = [core["path_mtu"] for core in answer["cores"]]
        accepted = sum(path["accepted"] for path in paths)
        yield ENGINE_PATH_MTU_MESSAGES.sample(now, accepted, **self._labels)
        if accepted:
            least = min(path["least"] for path in paths if path["accepted"])
            yield ENGINE_PATH_MTU.sample(now, least, **self._labels)

    def _pools(self) -> Iterable[Sample]:
        if not self._client.supports(MEMORY_METHOD):
            yield from _lacking(
                MEMORY_METHOD, self._labels, ENGINE_POOL_IN_USE, OBJECTS, ENGINE_POOL_RESERVED
            )
            return
        answer = self._client.call(MEMORY_METHOD, {})
        now = time.monotonic()
        for pool in answer["pools"]:
            labels = {**self._labels, "pool": pool["name"]}
            yield ENGINE_POOL_IN_USE.sample(now, pool["in_use"] * pool["object_bytes"], **labels)
            yield OBJECTS.sample(now, pool["in_use"], **labels)
            yield ENGINE_POOL_RESERVED.sample(now, pool["reserved_bytes"], **labels)

    def _starts(self) -> Iterable[Sample]:
        if not self._client.supports(SCHEDULE_METHOD):
            yield from _lacking(SCHEDULE_METHOD, self._labels, STARTS)
            return
        answer = self._client.call(SCHEDULE_METHOD, {"profile_id": PROFILE})
        now = time.monotonic()
        for outcome in ("intended", "opened", "late", "unsent"):
            yield STARTS.sample(now, answer[outcome], **self._labels, outcome=outcome)


class EngineTime(Collector):
    """Reads the time of an engine's cores: one short request, so that it can be read often."""

    metrics = (ENGINE_BUSY_TIME, ENGINE_COPYING_TIME, ENGINE_SENDING_TIME, ENGINE_TIME)

    def __init__(self, engine: str, client: EngineClient):
        self.name = f"{engine} time"
        self.often = engine == "peer"
        self._client = client
        self._labels = {"engine": engine}

    def read(self) -> list[Sample]:
        """For each core: its total time, its busy time, and of that copying and sending."""
        if not self._client.supports(CPU_METHOD):
            return list(_lacking(CPU_METHOD, self._labels, *self.metrics))
        answer = self._client.call(CPU_METHOD, {})
        now, rate = time.monotonic(), answer["tsc_hz"]
        samples = []
        for core in answer["cores"]:
            labels = {**self._labels, "core": str(core["core"]), "cpu": str(core["cpu"])}
            if "generator" in core:  # one of several
                labels["generator"] = core["generator"]
            samples.append(ENGINE_BUSY_TIME.sample(now, core["busy_cycles"] / rate, **labels))
            samples.append(ENGINE_COPYING_TIME.sample(now, core["copying_cycles"] / rate, **labels))
            samples.append(ENGINE_SENDING_TIME.sample(now, core["sending_cycles"] / rate, **labels))
            samples.append(ENGINE_TIME.sample(now, core["total_cycles"] / rate, **labels))
        return samples


class TrexTime(Collector):
    """Time of a TRex's data cores by TRex's own account, as counters.

    Its control thread looks at each data thread some 100 times a second, and tells for each second
    in how many per cent of the looks it was at work, cut to whole ones (src/utils/utl_cpuu.cpp,
    handle_fast_path of src/main_dpdk.cpp). So a figure of 10 s is known to about 1.5 % of a core.

    `cpus`: the Linux CPUs of the data cores. Empty where they share one with that control thread,
    which then can look only while they do nothing: their work is unknown, and what the kernel
    says of the thread holds its polling.
    """

    metrics = (TREX_BUSY_TIME, TREX_WHOLE_TIME)

    def __init__(
        self,
        engine: str,
        client: EngineClient,
        cpus: Sequence[int],
        clock: Callable[[], float] = time.monotonic,
    ):
        self.name = f"{engine} utilization"
        self._client = client
        self._labels = {"engine": engine}
        self._cpus = cpus
        self._clock = clock
        self._busy: dict[int, float] = defaultdict(float)
        self._began = self._last = clock()

    def read(self) -> list[Sample]:
        """For each data core: its busy time and its total time."""
        if not self._cpus:
            now, reason = self._clock(), f"{SHARED_CORE}: give it three cores or more"
            return [metric.unknown(now, reason, **self._labels) for metric in self.metrics]
        answer, now = self._client.call(UTILIZATION, {}), self._clock()
        passed, self._last = now - self._last, now
        samples = []
        for core, (cpu, each) in enumerate(zip(self._cpus, answer["cpu"], strict=False)):
            self._busy[core] += each["history"][0] / 100 * passed
            labels = {**self._labels, "core": str(core), "cpu": str(cpu)}
            samples.append(TREX_BUSY_TIME.sample(now, self._busy[core], **labels))
            samples.append(TREX_WHOLE_TIME.sample(now, now - self._began, **labels))
        return samples


def engine_time(
    engine: str,
    client: EngineClient,
    data_cpus: Sequence[int],
    clock: Callable[[], float] = time.monotonic,
) -> Collector:
    """The collector for the time of an engine's cores, depending on its RPC methods.

    `data_cpus`: for TRex, the CPUs that only its data threads use.
    """
    if client.supports(UTILIZATION) and not client.supports(CPU_METHOD):
        return TrexTime(engine, client, data_cpus, clock)
    return EngineTime(engine, client)


def _lacking(method: str, labels: dict[str, str], *metrics: Metric) -> Iterable[Sample]:
    """The metrics that are unknown with an engine without this method, such as TRex."""
    now, reason = time.monotonic(), f"this {labels['engine']} has no RPC method {method}"
    return (metric.unknown(now, reason, **labels) for metric in metrics)
