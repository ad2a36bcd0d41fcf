"""nginx as a cache on disk, before an origin that generates its objects."""

from stackcost.servers.nginx_cache.server import NginxCache

__all__ = ["NginxCache"]
