"""lighttpd with the TLS library of one of its modules.

All else is the same program, so what differs between two of these servers is the library. Each
module is a Debian package of its own.
"""

import subprocess
from pathlib import Path
from typing import Any, ClassVar

from typing_extensions import override

from stackcost.contracts.http import HttpVersion
from stackcost.servers.file_server import FileServer
from stackcost.servers.template import render_template

HERE = Path(__file__).parent
PROGRAM = Path("/usr/sbin/lighttpd")
MODULES = Path("/usr/lib/lighttpd")


class LighttpdOpenSsl(FileServer):
    """With OpenSSL. `library`: in the names of lighttpd's module and of its package.

    Its own count of requests (mod_status) changes once a second, so it is not read.
    """

    name = "lighttpd-openssl/kernel"
    library: ClassVar[str] = "openssl"

    @classmethod
    def lacks(cls) -> str:
        """Its module's package."""
        if PROGRAM.exists() and (MODULES / f"mod_{cls.library}.so").exists():
            return ""
        package = f"lighttpd-mod-{cls.library}"
        return f"lighttpd with {cls.library} is not installed; apt-get install {package}"

    @classmethod
    def lacks_version(cls, version: HttpVersion) -> str:
        """HTTP/3, which lighttpd does not have; HTTP/2 is in every build since 1.4.56."""
        return "lighttpd has no HTTP/3" if version == "3" else ""

    @override
    def program(self) -> list[str]:
        return [str(PROGRAM), "-D", "-f", "lighttpd.conf"]

    @override
    def configuration(self) -> dict[str, str]:
        settings, where = self.settings, self.endpoint
        text = render_template(
            HERE / "lighttpd.conf.j2",
            folder=where.folder,
            library=self.library,
            address=where.address,
            port=where.port,
            connections=settings.program.worker_connections,
            kept=where.stack.kept_sockets,
            backlog=settings.program.backlog,
            # One worker is the process itself; with more it starts them, and watches over them.
            workers=self.workers if self.workers > 1 else 0,
            http2="2" in settings.http_versions,
            tls={
                port: tickets
                for port, tickets in ((settings.tls_port, "-"), (settings.resumption_port, ""))
                if port
            },
        )
        return {"lighttpd.conf": text}

    def describe(self) -> dict[str, Any]:
        """With its version and that of the library's package."""
        said = subprocess.run([str(PROGRAM), "-v"], capture_output=True, text=True).stdout
        return super().describe() | {"version": said.partition(" (")[0], "library": self.library}


class LighttpdGnuTls(LighttpdOpenSsl):
    """With GnuTLS."""

    name = "lighttpd-gnutls/kernel"
    library = "gnutls"


class LighttpdMbedTls(LighttpdOpenSsl):
    """With Mbed TLS."""

    name = "lighttpd-mbedtls/kernel"
    library = "mbedtls"


class LighttpdNss(LighttpdOpenSsl):
    """With Mozilla's NSS."""

    name = "lighttpd-nss/kernel"
    library = "nss"


class LighttpdWolfSsl(LighttpdOpenSsl):
    """With wolfSSL."""

    name = "lighttpd-wolfssl/kernel"
    library = "wolfssl"
