"""HAProxy between clients and a farm of nginx."""

from stackcost.servers.haproxy.server import HAProxyFarm

__all__ = ["HAProxyFarm"]
