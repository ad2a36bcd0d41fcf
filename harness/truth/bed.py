"""The server of known cost in the very session that an experiment's servers run in."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.experiment.schema import Experiment
from harness.session.progress import Progress
from harness.session.session import Session, open_session
from harness.truth.known_memory import ChargedSockets
from servers.known_cost import KnownCost
from stackcost.collect.cpu_account import Detail
from stackcost.contracts.collector import Collector

PROFILES = Path(__file__).resolve().parents[2] / "trex_profiles"
RESPONSE_BYTES = 1000


def truth_experiment(**load: Any) -> Experiment:
    """One server on core 1, the generator on core 0; `load` overrides the load part."""
    return Experiment.model_validate(
        {
            "title": "the suite's figures against known ones",
            "servers": ["nginx/kernel"],
            "baseline": "nginx/kernel",
            "against": "nginx/kernel",
            "rounds": 1,
            "cores": {"load": [0], "server": [1]},
            "nginx": {"tuning": "stock", "worker_connections": 16_384},
            "workload": {
                "request_bytes": 100,
                "response_bytes": RESPONSE_BYTES,
                "clients": "16.0.0.1-16.0.0.200",
                "server": "48.0.0.1",
                "port": 80,
            },
            "load": {
                "profile": PROFILES / "http_program.py",
                "offered_cps": [1000],
                "warm_up_s": 0.8,
                "sustain_s": 1,
                "drain_s": 5,
                **load,
            },
            "memory": {
                "profile": PROFILES / "http_hold.py",
                "open_flows": [0, 2000],
                "open_cps": 2000,
                "settle_s": 0.2,
                "read_s": 0.3,
            },
        }
    )


class _KnownSockets(KnownCost):
    """The server of known cost, and what the kernel says that each of its sockets holds."""

    def own_collectors(self) -> list[Collector]:
        return [ChargedSockets(self.namespace)]


@contextmanager
def known_cost_session(
    experiment: Experiment, detail: Detail = Detail.SOFTIRQS
) -> Iterator[tuple[Session, KnownCost]]:
    """A session over the server of known cost, with the load's profile loaded."""
    console = Console(quiet=True)
    with (
        tempfile.TemporaryDirectory(prefix="stackcost-") as folder,
        Progress(1.0, console) as progress,
        open_session(_KnownSockets, experiment, Path(folder), "proof", progress, detail) as session,
    ):
        assert isinstance(session.server, KnownCost)
        yield session, session.server
