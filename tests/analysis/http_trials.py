"""Trials of HTTP clients with known figures, and the summary of some."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from stackcost.analysis.summarise import summarise
from stackcost.analysis.summary import Summary
from stackcost.clients.times import Times, encoded
from stackcost.contracts.http import HttpCounts, HttpSettings
from stackcost.contracts.load import HttpClients
from stackcost.contracts.system import NotMeasured, System
from stackcost.contracts.trial import Trial
from tests.analysis.runs import context_with
from tests.analysis.trials import counter, gauge, load_trial

REQUESTS = 10_000  # in a window of 10 s


def asked(program: str, connections: int, test: str, offered: float, answered: float) -> Trial:
    """A trial of HTTP clients: so many answers a second, 2 ms each, and 3 s when due earlier."""
    trial = load_trial(server="haproxy/kernel", offered=offered)
    trial.samples += counter("server.requests", REQUESTS, {})
    trial.samples += gauge("process.pss", [1e6 + 500.0 * connections] * 3, {"role": "worker-0"})
    waits = {"request": 2000} | ({"completion": 3_000_000} if offered else {})
    trial.load = HttpClients(
        test=test,
        offered_rps=offered or None,
        latency={
            "": {kind: encoded([Times.of(np.array([us] * 100))]) for kind, us in waits.items()}
        },
        settings=HttpSettings(
            program=program,
            processes=1,
            connections=connections,
            body_bytes=[1000],
            kept=True,
            tls=False,
            measures="latency",
        ),
        counted=HttpCounts(
            requests=REQUESTS,
            rate=answered,
            bits_per_second=8e6,
            failed={},
            unsent=0,
            latency_means="as made",
        ),
        server_requests=REQUESTS,
    )
    return trial


def summary(*trials: Trial, systems: Sequence[System] = ()) -> Summary:
    """`systems`: by default those that the trials name, without settings."""
    names = dict.fromkeys(trial.server for trial in trials)
    lacking = NotMeasured(
        name="nginx-cache/kernel:aio-dlb",
        server="nginx-cache/kernel",
        settings={"tuning": "aio-dlb"},
        why="it lacks a device",
    )
    context = replace(
        context_with(machine={}, not_measured=[lacking]),
        systems=tuple(systems) or tuple(map(System.of, names)),
        pairs=(),
    )
    return summarise(trials, context)


def cached() -> Trial:
    trial = asked("wrk", 50, "mix", 0, 1000)
    trial.samples += counter("cache.misses", 500, {})
    trial.samples += counter("process.disk_read", 5e6, {"role": "worker-0"})
    for part, seconds in (("event loop", 0.3), ("thread pool", 2.0)):
        labels = {"role": "worker-0", "process": "7", "part": part}
        trial.samples += counter("thread.blocked_time", seconds, labels)
    trial.before = {"cached_bytes": 9, "page_cache_bytes": 0}
    return trial
