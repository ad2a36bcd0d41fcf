"""The set-up of the self-check: a server of known cost, and its loads."""

from typing import Any

from stackcost.contracts.collector import Collector
from stackcost.experiment.schema import Experiment
from stackcost.files import PROFILES

from .calibration_server import CalibrationServer
from .known_memory import ChargedSockets

RESPONSE_BYTES = 1000


def selfcheck_experiment(**load: Any) -> Experiment:
    """One server on core 1, the generator on core 0; `load` overrides the load part."""
    return Experiment.model_validate(
        {
            "title": "comparison of the suite's figures with known values",
            "servers": ["nginx/kernel"],
            "baseline": "nginx/kernel",
            "against": "nginx/kernel",
            "rounds": 1,
            "cores": {"load": [0], "server": [1]},
            "server": {"tuning": "stock", "worker_connections": 16_384},
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


class KnownSockets(CalibrationServer):
    """The calibration server, and the memory that the kernel reports for each of its sockets."""

    def own_collectors(self) -> list[Collector]:
        """A collector of the memory that is charged to its sockets."""
        return [ChargedSockets(self.endpoint.namespace)]
