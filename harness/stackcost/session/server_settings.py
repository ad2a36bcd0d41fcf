"""Computes the settings of a server from an experiment."""

import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from stackcost.bed.tuning import tier_of
from stackcost.contracts.addresses import CLIENT_PREFIX, SERVER_PREFIX, IpVersion
from stackcost.contracts.program_settings import ProgramSettings
from stackcost.contracts.server import Server, ServerSettings
from stackcost.experiment.profile_load import NO_PROFILE, LoadSection, MemorySection
from stackcost.experiment.schema import Experiment, Workload
from stackcost.trex.client import TrexClient
from stackcost.trex.request import first_request

TLS_PORT, RESUMPTION_PORT = 443, 444


def tunables_of(
    workload: Workload, response_bytes: int, ip_version: IpVersion = 4
) -> dict[str, Any]:
    """Arguments of the suite's HTTP profiles; `response_bytes` counts headers and body."""
    settings = {} if workload.tcp == "today" else {"tcp": workload.tcp}
    return (
        prefixes_of(ip_version)
        | settings
        | {
            "request_bytes": workload.request_bytes,
            "response_bytes": response_bytes,
            "clients": workload.clients,
            "servers": f"{workload.server}-{workload.server}",
            "port": workload.port,
        }
    )


def prefixes_of(ip_version: IpVersion) -> dict[str, str]:
    """Arguments of the suite's profiles that select the IP version."""
    if ip_version == 4:
        return {}
    return {"client_prefix": CLIENT_PREFIX, "server_prefix": SERVER_PREFIX}


def server_settings(experiment: Experiment, kind: type[Server]) -> ServerSettings:
    """The settings of a server of this kind. Kernel tuning applies only on the kernel's stack."""
    workload, own, http = experiment.workload, experiment.server, experiment.http
    asks = kind.kernel_stack or kind.packet_socket or experiment.dut.server == "nginx"
    settings = ServerSettings(
        response_bytes=workload.response_bytes,
        request=_request_of(experiment) if asks and not http else b"",
        open_flows=max(experiment.memory.open_flows, default=0),
        tier=tier_of(own.tuning if kind.kernel_stack else "stock"),
        program=ProgramSettings(**own.model_dump(exclude={"stack", "tuning"})),
        haproxy=experiment.haproxy,
        dut=experiment.dut,
    )
    if http is None:
        return replace(
            _with_tls(settings, experiment),
            profile=_first_profile(experiment.memory, experiment.load),
            tunables=tunables_of(workload, workload.response_bytes),
        )
    shortest = min(http.files, key=lambda path: http.files[path])
    return replace(
        settings,
        request=f"GET {shortest} HTTP/1.1\r\nHost: {workload.server}\r\n\r\n".encode(),
        open_flows=http.most_connections,
        files=http.files,
        tls_port=TLS_PORT if http.tls else None,
        resumption_port=RESUMPTION_PORT if http.resumes else None,
        http_versions=tuple(v for v in http.versions if not kind.lacks_version(v)),
    )


def _with_tls(settings: ServerSettings, experiment: Experiment) -> ServerSettings:
    """Settings with the port of the profile served over TLS, if the load has TLS."""
    tls, port = experiment.tls, experiment.workload.port
    if tls is None:
        return settings
    return replace(
        settings,
        tls=tls,
        tls_port=None if tls.resumption else port,
        resumption_port=port if tls.resumption else None,
        program=settings.program.model_copy(update={"certificate": tls.certificate}),
    )


def _request_of(experiment: Experiment) -> bytes:
    """The exact request that the load will send, because the response length may depend on it."""
    workload, profile = experiment.workload, _first_profile(experiment.load, experiment.memory)
    tunables = tunables_of(workload, workload.response_bytes)
    return _request(profile, profile.read_bytes(), json.dumps(tunables))


def _first_profile(*parts: LoadSection | MemorySection) -> Path:
    """The profile of the first part that the experiment has."""
    return next(part.profile for part in parts if part.profile != NO_PROFILE)


@functools.cache
def _request(profile: Path, content: bytes, tunables: str) -> bytes:
    """Asked once for a profile and its arguments: the client's start takes a second.

    `content`: of the file, so that a changed one is asked again. `tunables`: as JSON.
    """
    with TrexClient() as client:
        return first_request(client.profile_json(profile, json.loads(tunables)))
