"""Envoy as a sidecar before a server (inbound): with its TCP filter, or with its HTTP filter."""

import json
from typing import Any

from typing_extensions import override

from stackcost.duts.proxy import Proxy
from stackcost.servers.envoy_program import CONFIGURATION, envoy_command, lacks_envoy

TYPES = "type.googleapis.com/envoy.extensions.filters"
CLUSTER = "backend"


class EnvoyTcp(Proxy):
    """Envoy's TCP proxy filter (envoy.filters.network.tcp_proxy)."""

    name = "dut/proxy_envoy_tcp"

    @classmethod
    def lacks(cls) -> str:
        """Its package, which is an extra."""
        return lacks_envoy()

    def command(self) -> list[str]:
        """With a worker thread for each core."""
        return envoy_command(self.workers)

    @override
    def write_files(self) -> None:
        (self.endpoint.folder / CONFIGURATION).write_text(self.configuration())

    def configuration(self) -> str:
        """envoy.json: a listener, one filter, and a cluster of one server."""
        listener = self.listener() | {
            "name": "clients",
            "filter_chains": [{"filters": [self.filter()]}],
        }
        # Envoy's own limit is 1,024 connections and as many requests in each cluster.
        limits = ("max_connections", "max_pending_requests", "max_requests")
        cluster = self.servers() | {
            "name": CLUSTER,
            "connect_timeout": "5s",
            "circuit_breakers": {"thresholds": [dict.fromkeys(limits, self.room)]},
        }
        resources = {"listeners": [listener], "clusters": [cluster]}
        return json.dumps({"static_resources": resources}, indent=2)

    def listener(self) -> dict[str, Any]:
        """Where clients' connections come in."""
        return {"address": socket_address(self.endpoint.address, self.endpoint.port)}

    def servers(self) -> dict[str, Any]:
        """The servers to connect to: the one behind it."""
        server = {"address": socket_address(self.backend_at, self.endpoint.port)}
        endpoints = [{"lb_endpoints": [{"endpoint": server}]}]
        return {
            "type": "STATIC",
            "load_assignment": {"cluster_name": CLUSTER, "endpoints": endpoints},
        }

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


def socket_address(address: str, port: int) -> dict[str, Any]:
    """An address and port as Envoy's configuration has them."""
    return {"socket_address": {"address": address, "port_value": port}}
