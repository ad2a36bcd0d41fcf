"""Finds systems under test: built-in ones by name, others by the path of their file.

Servers, and devices that stand between the generator's ports.
"""

import importlib
import importlib.util
import inspect
import traceback
from functools import cache
from pathlib import Path
from typing import TypeVar

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import Server
from stackcost.harness.systems.nearest import nearest

SUFFIX = ".py"
Kind = TypeVar("Kind")
DEVICES = {
    "dut/wire": ("stackcost.duts.wire", "Wire"),
    "dut/forwarding": ("stackcost.duts.forwarding", "Forwarding"),
    "dut/nftables": ("stackcost.duts.nftables", "Nftables"),
    "dut/nat44": ("stackcost.duts.nat44", "Nat44"),
    "dut/nat64": ("stackcost.duts.nat64", "Nat64"),
    "dut/connection_limit": ("stackcost.duts.connection_limit", "ConnectionLimit"),
    "dut/external": ("stackcost.duts.external", "External"),
    "dut/bridge": ("stackcost.duts.bridge", "Bridge"),
    "dut/conntrack": ("stackcost.duts.conntrack", "Conntrack"),
    "dut/container_bridge": ("stackcost.duts.container_bridge", "ContainerBridge"),
    "dut/service_nftables": ("stackcost.duts.service", "NftablesService"),
    "dut/service_iptables": ("stackcost.duts.service", "IptablesService"),
    "dut/service_iptables_legacy": ("stackcost.duts.service", "IptablesLegacyService"),
    "dut/rootless_pasta": ("stackcost.duts.rootless", "Pasta"),
    "dut/rootless_slirp4netns": ("stackcost.duts.rootless", "Slirp"),
    "dut/proxy_nginx": ("stackcost.duts.proxy", "NginxTcp"),
    "dut/proxy_haproxy": ("stackcost.duts.proxy", "HAProxyTcp"),
    "dut/proxy_envoy_tcp": ("stackcost.duts.proxy", "EnvoyTcp"),
    "dut/proxy_envoy_http": ("stackcost.duts.proxy", "EnvoyHttp"),
    "dut/proxy_envoy_out_tcp": ("stackcost.duts.proxy", "EnvoyOutTcp"),
    "dut/proxy_envoy_out_http": ("stackcost.duts.proxy", "EnvoyOutHttp"),
}
SHIPPED = {
    "nginx/kernel": ("stackcost.servers.nginx_kernel", "NginxKernel"),
    "haproxy/kernel": ("stackcost.servers.haproxy", "HAProxyFarm"),
    "nginx-cache/kernel": ("stackcost.servers.nginx_cache", "NginxCache"),
    "lighttpd-openssl/kernel": ("stackcost.servers.lighttpd", "LighttpdOpenSsl"),
    "lighttpd-gnutls/kernel": ("stackcost.servers.lighttpd", "LighttpdGnuTls"),
    "lighttpd-mbedtls/kernel": ("stackcost.servers.lighttpd", "LighttpdMbedTls"),
    "lighttpd-nss/kernel": ("stackcost.servers.lighttpd", "LighttpdNss"),
    "lighttpd-wolfssl/kernel": ("stackcost.servers.lighttpd", "LighttpdWolfSsl"),
    "caddy/kernel": ("stackcost.servers.caddy", "Caddy"),
    "envoy/kernel": ("stackcost.servers.envoy", "Envoy"),
    "rustls/kernel": ("stackcost.servers.rustls", "Rustls"),
    "go/kernel": ("stackcost.servers.go_web", "GoOnKernel"),
    "go/netstack": ("stackcost.servers.go_web", "GoOnNetstack"),
    "rust/smoltcp": ("stackcost.servers.smoltcp", "Smoltcp"),
    "nginx/gvisor": ("stackcost.servers.gvisor", "NginxInGvisor"),
    "nginx/gvisor-ptrace": ("stackcost.servers.gvisor", "NginxInGvisorByPtrace"),
    "astf-peer": ("stackcost.servers.astf_peer", "AstfPeer"),
    **DEVICES,
}


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
        module, name = SHIPPED[entry]
        found: type[Server] = getattr(importlib.import_module(module), name)
        return found
    return _own_server(Path(entry).resolve())


@cache
def _own_server(path: Path) -> type[Server]:
    found = class_in(path, Server, "adding-a-server.md")
    found.name = path.stem
    return found


@cache
def class_in(path: Path, kind: type[Kind], page: str) -> type[Kind]:
    """The one class of this kind in a Python file of the user's own.

    `page`: of docs/, which shows an example. StackcostError when the file is missing or fails, with
    its own line, or does not contain exactly one such class, with all of its methods.
    """
    if not path.is_file():
        raise StackcostError(f"there is no file {path}", f"docs/{page} shows an example")
    what = kind.__name__.lower()
    name = f"stackcost_{what}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # as its name ends in .py
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise StackcostError(f"{path}{_line_in(path, error)}: {error!r}") from error
    found = [
        each
        for each in vars(module).values()
        if inspect.isclass(each) and issubclass(each, kind) and each.__module__ == name
    ]
    if len(found) != 1:
        said = ", ".join(each.__name__ for each in found) or "none"
        raise StackcostError(
            f"{path} must contain exactly one {what} class; it contains {said}",
            f"docs/{page} says from what to derive it",
        )
    if missing := sorted(getattr(found[0], "__abstractmethods__", ())):
        raise StackcostError(
            f"{path}: {found[0].__name__} does not implement {', '.join(missing)}",
            f"{kind.__module__.replace('.', '/')}.py describes each method",
        )
    return found[0]


def _line_in(path: Path, error: Exception) -> str:
    """The last line of the file in the traceback, as " line N"."""
    if isinstance(error, SyntaxError):
        return f" line {error.lineno}"
    lines = [
        at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == str(path)
    ]
    return f" line {lines[-1]}" if lines else ""
