"""Envoy, with BoringSSL, HTTP/2 and HTTP/3 of its own."""

from stackcost.servers.envoy.server import Envoy

__all__ = ["Envoy"]
