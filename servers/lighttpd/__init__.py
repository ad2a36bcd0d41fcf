"""lighttpd, one program with each of five TLS libraries."""

from stackcost.servers.lighttpd.server import (
    LighttpdGnuTls,
    LighttpdMbedTls,
    LighttpdNss,
    LighttpdOpenSsl,
    LighttpdWolfSsl,
)

__all__ = [
    "LighttpdGnuTls",
    "LighttpdMbedTls",
    "LighttpdNss",
    "LighttpdOpenSsl",
    "LighttpdWolfSsl",
]
