"""Envoy answers by itself, over TLS with BoringSSL and over HTTP/3 with QUICHE."""

import json
import re
from typing import Any

from typing_extensions import override

from stackcost.contracts.http import HttpVersion
from stackcost.servers.certificate import CERTIFICATE_FILE, KEY_FILE
from stackcost.servers.envoy_program import CONFIGURATION, envoy_command, lacks_envoy
from stackcost.servers.file_server import ROOT, FileServer
from stackcost.servers.probe import ask_socket

TYPES = "type.googleapis.com/envoy.extensions"
ALPN: dict[HttpVersion, str] = {"1.1": "http/1.1", "2": "h2", "3": "h3"}
ADMIN_SOCKET = "admin.sock"
STATISTICS = "web"


class Envoy(FileServer):
    """Each file is a direct response, which Envoy keeps in its own memory."""

    name = "envoy/kernel"

    @classmethod
    def lacks(cls) -> str:
        """Its package, which is an extra."""
        return lacks_envoy()

    @classmethod
    @override
    def lacks_version(cls, version: HttpVersion) -> str:
        return ""

    def program(self) -> list[str]:
        """With a worker for each core."""
        return envoy_command(self.workers)

    def configuration(self) -> dict[str, str]:
        """envoy.json: a listener without TLS, one for each port with it, and one of QUIC."""
        settings, where = self.settings, self.endpoint
        listeners = [self._listener("plain", where.port, None)]
        for port, tickets in ((settings.tls_port, False), (settings.resumption_port, True)):
            if port:
                listeners.append(self._listener(f"tls-{port}", port, tickets))
        if settings.tls_port and "3" in settings.http_versions:
            listeners.append(self._quic(settings.tls_port))
        whole = {
            "admin": {"address": {"pipe": {"path": ADMIN_SOCKET}}},
            "static_resources": {"listeners": listeners},
        }
        return {CONFIGURATION: json.dumps(whole, indent=2)}

    def requests_counted(self) -> int | None:
        """Responses with status 2xx of all listeners, from the UNIX socket."""
        path = f"/stats?filter=^http.{STATISTICS}.downstream_rq_2xx$"
        request = f"GET {path} HTTP/1.1\r\nHost: admin\r\nConnection: close\r\n\r\n"
        answer = ask_socket(self.endpoint.folder / ADMIN_SOCKET, request.encode()).decode()
        found = re.search(r"downstream_rq_2xx: (\d+)", answer)
        return int(found[1]) if found else None

    def _listener(self, name: str, port: int, tickets: bool | None) -> dict[str, Any]:
        """TCP; `tickets`: of TLS, None: without TLS."""
        chain: dict[str, Any] = {"filters": [self._answers_with("AUTO")]}
        if tickets is not None:
            versions = [version for version in self.settings.http_versions if version != "3"]
            chain["transport_socket"] = {
                "name": "envoy.transport_sockets.tls",
                "typed_config": {
                    "@type": f"{TYPES}.transport_sockets.tls.v3.DownstreamTlsContext",
                    "common_tls_context": self._tls(*(ALPN[each] for each in versions[::-1])),
                    "disable_stateless_session_resumption": not tickets,
                    "disable_stateful_session_resumption": True,
                },
            }
        backlog = self.settings.program.backlog
        return {
            "name": name,
            "address": self._address(port, "TCP"),
            "enable_reuse_port": True,
            **({"tcp_backlog_size": backlog} if backlog else {}),
            "filter_chains": [chain],
        }

    def _quic(self, port: int) -> dict[str, Any]:
        return {
            "name": "quic",
            "address": self._address(port, "UDP"),
            "udp_listener_config": {"quic_options": {}, "downstream_socket_config": {}},
            "filter_chains": [
                {
                    "filters": [self._answers_with("HTTP3")],
                    "transport_socket": {
                        "name": "envoy.transport_sockets.quic",
                        "typed_config": {
                            "@type": f"{TYPES}.transport_sockets.quic.v3.QuicDownstreamTransport",
                            "downstream_tls_context": {"common_tls_context": self._tls(ALPN["3"])},
                        },
                    },
                }
            ],
        }

    def _address(self, port: int, protocol: str) -> dict[str, Any]:
        where = {"address": self.endpoint.address, "port_value": port, "protocol": protocol}
        return {"socket_address": where}

    def _tls(self, *protocols: str) -> dict[str, Any]:
        pair = {
            "certificate_chain": {"filename": CERTIFICATE_FILE},
            "private_key": {"filename": KEY_FILE},
        }
        return {"tls_certificates": [pair], "alpn_protocols": list(protocols)}

    def _answers_with(self, codec: str) -> dict[str, Any]:
        """The filter of every connection."""
        files = self.settings.files
        routes = [
            {
                "match": {"path": path},
                "direct_response": {
                    "status": 200,
                    **({"body": {"filename": ROOT + path}} if length else {}),
                },
            }
            for path, length in files.items()
        ]
        router = {"@type": f"{TYPES}.filters.http.router.v3.Router"}
        return {
            "name": "envoy.filters.network.http_connection_manager",
            "typed_config": {
                "@type": f"{TYPES}.filters.network.http_connection_manager.v3"
                ".HttpConnectionManager",
                "stat_prefix": STATISTICS,
                "codec_type": codec,
                "http_protocol_options": {"accept_http_10": True},  # which ab speaks
                **({"http3_protocol_options": {}} if codec == "HTTP3" else {}),
                "route_config": {
                    "max_direct_response_body_size_bytes": max(files.values()) or 1,
                    "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": routes}],
                },
                "http_filters": [{"name": "envoy.filters.http.router", "typed_config": router}],
            },
        }
