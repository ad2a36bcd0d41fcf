"""HAProxy as a proxy of TCP. It passes TLS on, or ends it."""

from pathlib import Path

from typing_extensions import override

from stackcost.duts.proxy import Proxy
from stackcost.host.namespace import find_program
from stackcost.servers.template import render_template

TEMPLATE = Path(__file__).with_name("haproxy.cfg.j2")


class HAProxyTcp(Proxy):
    """One process with a thread for each core, each with a listener of its own."""

    name = "dut/proxy_haproxy"
    takes_tls = takes_engine = True

    def command(self) -> list[str]:
        """In the foreground, without a master process."""
        return [find_program("haproxy"), "-db", "-f", "haproxy.cfg"]

    @override
    def write_files(self) -> None:
        (self.endpoint.folder / "haproxy.cfg").write_text(self.configuration())

    @override
    def configuration(self) -> str:
        cpus = self.endpoint.cpus
        return render_template(
            TEMPLATE,
            room=self.room,
            workers=self.workers,
            cpus=[cpus[at % len(cpus)] for at in range(self.workers)],
            **self.template_values(),
        )


class HAProxyTls(HAProxyTcp):
    """HAProxy as a proxy that ends clients' TLS (OpenSSL)."""

    name = "dut/tls_haproxy"
    ends_tls = True
