"""Envoy as a sidecar beside a client (outbound): it takes connections that are meant for servers.

As in a mesh, a rule redirects each new connection to Envoy's port, and Envoy asks the kernel where
it was going (SO_ORIGINAL_DST) and connects to there (istio.io, "Traffic routing": the listener
virtualOutbound on port 15001, and the cluster PassthroughCluster).
"""

from typing import Any

from stackcost.host.tracked import forget_tracked

from .envoy import TYPES, EnvoyTcp, http_filter, socket_address

PORT = 15_001
# Connections of Envoy itself have this mark, so that no rule leads them back (SO_MARK, socket(7)).
MARK, SOL_SOCKET, SO_MARK = 1337, 1, 36
RULESET = """table ip sidecar {{
    chain prerouting {{
        type nat hook prerouting priority dstnat; policy accept;
        ip daddr {address} tcp dport {port} redirect to :{to}
    }}
    chain output {{
        type nat hook output priority -100; policy accept;
        meta mark != {mark} ip daddr {address} tcp dport {port} redirect to :{to}
    }}
}}
"""


class EnvoyOutTcp(EnvoyTcp):
    """Envoy's TCP proxy filter beside the clients. The server keeps the address they ask for."""

    name = "dut/proxy_envoy_out_tcp"
    takes_tls = takes_engine = False
    backend_at = ""

    def take_clients(self) -> None:
        """Redirect their connections; those of programs in its namespace too, as health checks."""
        self.apply_rules()

    def reset(self) -> None:
        """Forget the redirections: the kernel keeps where each closed connection was going."""
        forget_tracked(self.endpoint.namespace)

    def ruleset(self) -> str:
        """The rules of the redirection."""
        where = self.endpoint
        return RULESET.format(address=where.address, port=where.port, to=PORT, mark=MARK)

    def listener(self) -> dict[str, Any]:
        """On every address, with the filter that asks where a connection was going."""
        asks = {
            "name": "envoy.filters.listener.original_dst",
            "typed_config": {"@type": f"{TYPES}.listener.original_dst.v3.OriginalDst"},
        }
        return {"address": socket_address("0.0.0.0", PORT), "listener_filters": [asks]}

    def servers(self) -> dict[str, Any]:
        """Wherever the connection was going."""
        mark = {"level": SOL_SOCKET, "name": SO_MARK, "int_value": MARK, "state": "STATE_PREBIND"}
        return {
            "type": "ORIGINAL_DST",
            "lb_policy": "CLUSTER_PROVIDED",
            "upstream_bind_config": {
                "source_address": {"address": "0.0.0.0", "port_value": 0},
                "socket_options": [mark],
            },
        }


class EnvoyOutHttp(EnvoyOutTcp):
    """Envoy's HTTP connection manager beside the clients, with the router as its only filter."""

    name = "dut/proxy_envoy_out_http"

    def filter(self) -> dict[str, Any]:
        """The filter of every connection."""
        return http_filter()
