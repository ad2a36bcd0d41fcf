"""nginx as a proxy of TCP: its stream module. It passes TLS on, or ends it."""

import re
import resource
from pathlib import Path

from typing_extensions import override

from stackcost.contracts.errors import StackcostError
from stackcost.duts.proxy import Proxy
from stackcost.host.debian import MODULES, install_command
from stackcost.servers.nginx_status import affinity_masks, find_build
from stackcost.servers.template import render_template

TEMPLATE = Path(__file__).with_name("nginx.conf.j2")
STREAM = "ngx_stream_module.so"
SIDES = 2  # connections of a proxy for each of its clients'


class NginxTcp(Proxy):
    """One worker for each core, each with a listening socket of its own."""

    name = "dut/proxy_nginx"
    takes_tls = takes_engine = True

    @override
    def command(self) -> list[str]:
        return [find_build().path, "-p", ".", "-e", "stderr", "-c", "nginx.conf"]

    @override
    def write_files(self) -> None:
        (self.endpoint.folder / "nginx.conf").write_text(self.configuration())

    @override
    def configuration(self) -> str:
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        wanted = SIDES * self.settings.program.worker_connections
        return render_template(
            TEMPLATE,
            module=stream_module(),
            workers=self.workers,
            affinity_masks=affinity_masks(self.workers, self.endpoint.cpus),
            connections=wanted,
            files=wanted if most == resource.RLIM_INFINITY else most,
            **self.template_values(),
        )


class NginxTls(NginxTcp):
    """nginx as a proxy that ends clients' TLS (OpenSSL)."""

    name = "dut/tls_nginx"
    ends_tls = True


def stream_module() -> Path:
    """The file of nginx's stream module; StackcostError if it is not installed."""
    found = re.search(r"--modules-path=(\S+)", find_build().configured)
    path = Path(found[1] if found else "/usr/lib/nginx/modules", STREAM)
    if not path.is_file():
        raise StackcostError(
            f"nginx has no stream module: there is no {path}", install_command([MODULES[STREAM]])
        )
    return path
