"""Caddy, with the TLS, HTTP/2 and HTTP/3 of Go."""

from stackcost.servers.caddy.server import Caddy

__all__ = ["Caddy"]
