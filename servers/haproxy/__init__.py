"""HAProxy between clients and a farm of nginx."""

from servers.haproxy.server import HAProxyFarm

__all__ = ["HAProxyFarm"]
