"""Debian's packages that a run needs, by the programs and libraries that they bring.

All of them stand in debian-packages.txt or come with one that does; those that only a build of the
engine needs are not here.
"""

from collections.abc import Iterable

PROGRAMS = {
    "ip": "iproute2",
    "ethtool": "ethtool",
    "sysctl": "procps",
    "taskset": "util-linux",
    "prlimit": "util-linux",
    "fincore": "util-linux-extra",
    "cc": "gcc",
    "clang": "clang",
    "nft": "nftables",
    "nginx": "nginx-light",
    "iptables-nft-restore": "iptables",
    "iptables-legacy-restore": "iptables",
    "haproxy": "haproxy",
    "tayga": "tayga",
    "wrk": "wrk",
    "ab": "apache2-utils",
    "h2load": "nghttp2-client",
    "openssl": "openssl",
    "curl": "curl",
}
# Libraries of astf-engine as a package has it; everything else is in the program itself.
LIBRARIES = {"libzmq.so.5": "libzmq5", "libpcap.so.0.8": "libpcap0.8", "libssl.so.3": "libssl3"}
# Headers, and the library, that BPF programs and C programs of the suite are made with.
FILES = {
    "/usr/include/stdio.h": "libc6-dev",
    "/usr/include/bpf/bpf_helpers.h": "libbpf-dev",
}
# Modules of programs, which the programs load from a folder of their own.
MODULES = {"ngx_stream_module.so": "libnginx-mod-stream"}
PACKAGES = sorted({*PROGRAMS.values(), *LIBRARIES.values(), *FILES.values(), *MODULES.values()})


def install_command(packages: Iterable[str]) -> str:
    """The command that installs them."""
    return f"apt-get install {' '.join(sorted(set(packages)))}"
