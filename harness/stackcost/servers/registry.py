"""Finds systems under test by the path of their file; those of the suite have names, too.

Servers, and devices that stand between the generator's ports.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import Server
from stackcost.files import DUTS, SERVERS
from stackcost.servers.own_files import class_in, module_of

SUFFIX = ".py"
PAGES = "docs/adding-a-server.md, of a device docs/adding-a-dut.md"
# The file and the class of each.
DEVICES = {
    "dut/wire": (DUTS / "wire/dut.py", "Wire"),
    "dut/forwarding": (DUTS / "forwarding/dut.py", "Forwarding"),
    "dut/nftables": (DUTS / "nftables/dut.py", "Nftables"),
    "dut/nat44": (DUTS / "nat44/dut.py", "Nat44"),
    "dut/nat64": (DUTS / "nat64/dut.py", "Nat64"),
    "dut/connection_limit": (DUTS / "connection_limit/dut.py", "ConnectionLimit"),
    "dut/external": (DUTS / "external/dut.py", "External"),
    "dut/bridge": (DUTS / "bridge/dut.py", "Bridge"),
    "dut/conntrack": (DUTS / "conntrack/dut.py", "Conntrack"),
    "dut/container_bridge": (DUTS / "container_bridge/dut.py", "ContainerBridge"),
    "dut/service_nftables": (DUTS / "service/nftables.py", "NftablesService"),
    "dut/service_iptables": (DUTS / "service/iptables.py", "IptablesService"),
    "dut/service_iptables_legacy": (DUTS / "service/iptables.py", "IptablesLegacyService"),
    "dut/xdp_forwarding": (DUTS / "xdp/dut.py", "XdpForwarding"),
    "dut/xdp_forwarding_generic": (DUTS / "xdp/dut.py", "XdpForwardingGeneric"),
    "dut/xdp_service": (DUTS / "xdp/dut.py", "XdpService"),
    "dut/xdp_service_generic": (DUTS / "xdp/dut.py", "XdpServiceGeneric"),
    "dut/rootless_pasta": (DUTS / "rootless/pasta.py", "Pasta"),
    "dut/rootless_slirp4netns": (DUTS / "rootless/slirp.py", "Slirp"),
    "dut/proxy_nginx": (DUTS / "proxy/nginx.py", "NginxTcp"),
    "dut/proxy_haproxy": (DUTS / "proxy/haproxy.py", "HAProxyTcp"),
    "dut/tls_nginx": (DUTS / "proxy/nginx.py", "NginxTls"),
    "dut/tls_haproxy": (DUTS / "proxy/haproxy.py", "HAProxyTls"),
    "dut/tls_envoy": (DUTS / "proxy/envoy.py", "EnvoyTls"),
    "dut/proxy_envoy_tcp": (DUTS / "proxy/envoy.py", "EnvoyTcp"),
    "dut/proxy_envoy_http": (DUTS / "proxy/envoy.py", "EnvoyHttp"),
    "dut/proxy_envoy_out_tcp": (DUTS / "proxy/envoy_out.py", "EnvoyOutTcp"),
    "dut/proxy_envoy_out_http": (DUTS / "proxy/envoy_out.py", "EnvoyOutHttp"),
}
SHIPPED = {
    "nginx/kernel": (SERVERS / "nginx_kernel/server.py", "NginxKernel"),
    "nginx-tracked/kernel": (SERVERS / "nginx_kernel/tracked.py", "NginxTracked"),
    "haproxy/kernel": (SERVERS / "haproxy/server.py", "HAProxyFarm"),
    "nginx-cache/kernel": (SERVERS / "nginx_cache/server.py", "NginxCache"),
    "lighttpd-openssl/kernel": (SERVERS / "lighttpd/server.py", "LighttpdOpenSsl"),
    "lighttpd-gnutls/kernel": (SERVERS / "lighttpd/server.py", "LighttpdGnuTls"),
    "lighttpd-mbedtls/kernel": (SERVERS / "lighttpd/server.py", "LighttpdMbedTls"),
    "lighttpd-nss/kernel": (SERVERS / "lighttpd/server.py", "LighttpdNss"),
    "lighttpd-wolfssl/kernel": (SERVERS / "lighttpd/server.py", "LighttpdWolfSsl"),
    "caddy/kernel": (SERVERS / "caddy/server.py", "Caddy"),
    "envoy/kernel": (SERVERS / "envoy/server.py", "Envoy"),
    "rustls/kernel": (SERVERS / "rustls/server.py", "Rustls"),
    "go/kernel": (SERVERS / "go_web/server.py", "GoOnKernel"),
    "go/netstack": (SERVERS / "go_web/server.py", "GoOnNetstack"),
    "small-epoll/kernel": (SERVERS / "small/server.py", "SmallByEpoll"),
    "small-mptcp/kernel": (SERVERS / "small/server.py", "SmallOnMptcp"),
    "small-busy/kernel": (SERVERS / "small/server.py", "SmallByBusyPolls"),
    "small-uring/kernel": (SERVERS / "small/server.py", "SmallByUring"),
    "small-uring-zc/kernel": (SERVERS / "small/server.py", "SmallByUringZeroCopy"),
    "rust/smoltcp": (SERVERS / "smoltcp/server.py", "Smoltcp"),
    "nginx/gvisor": (SERVERS / "gvisor/server.py", "NginxInGvisor"),
    "nginx/gvisor-ptrace": (SERVERS / "gvisor/server.py", "NginxInGvisorByPtrace"),
    "astf-peer": (SERVERS / "astf_peer/server.py", "AstfPeer"),
    **DEVICES,
}


def nearest(name: str, known: Iterable[str]) -> str:
    """The known names that are like `name`, as the end of a sentence; all, where none is.

    Of ten names or more only those that are alike are said. `nginx` is like `nginx/kernel`.
    """
    names = list(known)
    alike = [each for each in names if name in each.split("/")][:3]
    alike = alike or get_close_matches(name, names, n=3, cutoff=0.6)
    if alike:
        return f"; did you mean {' or '.join(alike)}?"
    return f"; there are {', '.join(names)}" if 0 < len(names) < 10 else ""


def server_name(entry: str) -> str:
    """The name of a server in results: its name, or the name of its file."""
    return Path(entry).stem if entry.endswith(SUFFIX) else entry


def check_entry(entry: str) -> None:
    """StackcostError unless the entry can name a server; it does not check that a file exists."""
    if entry not in SHIPPED and not entry.endswith(SUFFIX):
        raise StackcostError(
            f"there is no server {entry!r}{nearest(entry, SHIPPED)}",
            "all: docs/experiment-file.md, `servers`; or your own file, such as ./haproxy.py",
        )


def server_class(entry: str) -> type[Server]:
    """The class of a server that an experiment names.

    A file is Python with one class that is a `stackcost.contracts.server.Server`. StackcostError
    when there is no such server, or its file fails, with the file's own line.
    """
    check_entry(entry)
    if entry in SHIPPED:
        path, name = SHIPPED[entry]
        found: type[Server] = getattr(module_of(path), name)
        return found
    return _own_server(Path(entry).resolve())


@cache
def _own_server(path: Path) -> type[Server]:
    found = class_in(path, Server, PAGES, "server or device")
    found.name = path.stem
    return found
