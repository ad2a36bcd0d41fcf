"""What an experiment asks of a server."""

from typing import Any

from harness.experiment.schema import Experiment, Workload
from harness.load.client import TrexClient
from harness.tuning import tier_of
from servers.astf_peer.request import first_request
from servers.base import Server, Task


def tunables_of(workload: Workload, response_bytes: int) -> dict[str, Any]:
    """Arguments of the suite's HTTP profiles; `response_bytes` counts headers and body."""
    return {
        "request_bytes": workload.request_bytes,
        "response_bytes": response_bytes,
        "clients": workload.clients,
        "servers": f"{workload.server}-{workload.server}",
        "port": workload.port,
    }


def task_of(experiment: Experiment, kind: type[Server]) -> Task:
    """What it is for a server of this kind; what tunes the kernel says nothing to one beside it."""
    workload, nginx = experiment.workload, experiment.nginx
    return Task(
        response_bytes=workload.response_bytes,
        request=_request_of(experiment) if kind.kernel_stack else b"",
        open_flows=max(experiment.memory.open_flows),
        workers=nginx.workers,
        worker_connections=nginx.worker_connections,
        tier=tier_of(nginx.tuning if kind.kernel_stack else "stock"),
        profile=experiment.memory.profile,
        tunables=tunables_of(workload, workload.response_bytes),
    )


def _request_of(experiment: Experiment) -> bytes:
    """The very request that the load will send: the response's length may depend on it."""
    workload = experiment.workload
    tunables = tunables_of(workload, workload.response_bytes)
    with TrexClient() as client:
        return first_request(client.profile_json(experiment.load.profile, tunables))
