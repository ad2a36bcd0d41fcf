"""Envoy as a sidecar before a server (inbound): with its TCP filter, or with its HTTP filter."""

import json
from typing import Any

from typing_extensions import override

from stackcost.duts.proxy import Proxy
from stackcost.servers.certificate import CERTIFICATE_FILE, KEY_FILE
from stackcost.servers.envoy_program import CONFIGURATION, envoy_command, lacks_envoy

EXTENSIONS = "type.googleapis.com/envoy.extensions"
TYPES = f"{EXTENSIONS}.filters"
CLUSTER = "backend"


class EnvoyTcp(Proxy):
    """Envoy's TCP proxy filter (envoy.filters.network.tcp_proxy)."""

    name = "dut/proxy_envoy_tcp"
    takes_tls = takes_engine = True

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
            "filter_chains": [{"filters": [self.filter()]} | self.clients_tls()],
        }
        # Envoy's own limit is 1,024 connections and as many requests in each cluster.
        limits = ("max_connections", "max_pending_requests", "max_requests")
        cluster = self.servers() | {
            "name": CLUSTER,
            "connect_timeout": "5s",
            "circuit_breakers": {"thresholds": [dict.fromkeys(limits, self.room)]},
            **self.servers_tls(),
        }
        resources = {"listeners": [listener], "clusters": [cluster]}
        return json.dumps({"static_resources": resources}, indent=2)

    def clients_tls(self) -> dict[str, Any]:
        """TLS of clients' connections, if it ends that."""
        return {}

    def servers_tls(self) -> dict[str, Any]:
        """TLS of its connections to the server, if it has any."""
        return {}

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


class EnvoyTls(EnvoyTcp):
    """The TCP proxy filter behind one that ends clients' TLS (BoringSSL)."""

    name = "dut/tls_envoy"
    ends_tls = True

    @override
    def clients_tls(self) -> dict[str, Any]:
        pair = {
            "certificate_chain": {"filename": CERTIFICATE_FILE},
            "private_key": {"filename": KEY_FILE},
        }
        return tls_socket(
            "DownstreamTlsContext",
            {"tls_certificates": [pair]},
            disable_stateless_session_resumption=not self.tickets,
            disable_stateful_session_resumption=True,
        )

    @override
    def servers_tls(self) -> dict[str, Any]:
        if not self.server_tls:
            return {}
        # Envoy's own choice for this side is TLS 1.2 at most.
        versions = {"tls_params": {"tls_maximum_protocol_version": "TLSv1_3"}}
        return tls_socket("UpstreamTlsContext", versions, max_session_keys=int(self.tickets))


class EnvoyHttp(EnvoyTcp):
    """Envoy's HTTP connection manager, with the router as its only HTTP filter.

    It keeps its connections to the server and sends further requests on them.
    """

    name = "dut/proxy_envoy_http"
    takes_tls = takes_engine = False

    def filter(self) -> dict[str, Any]:
        """The filter of every connection."""
        return http_filter()


def http_filter() -> dict[str, Any]:
    """The HTTP connection manager, with the router as its only HTTP filter."""
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


def tls_socket(context: str, common: dict[str, Any], **own: Any) -> dict[str, Any]:
    """A transport socket of TLS. `common`: what both kinds of `context` have; `own`: the rest."""
    config = {
        "@type": f"{EXTENSIONS}.transport_sockets.tls.v3.{context}",
        "common_tls_context": common,
        **own,
    }
    return {"transport_socket": {"name": "envoy.transport_sockets.tls", "typed_config": config}}


def socket_address(address: str, port: int) -> dict[str, Any]:
    """An address and port as Envoy's configuration has them."""
    return {"socket_address": {"address": address, "port_value": port}}
