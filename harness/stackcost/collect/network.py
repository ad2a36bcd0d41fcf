"""Counters of one network namespace: sockets, TCP, interfaces, connection tracking."""

import os
import time
from collections.abc import Iterator

from stackcost.collect.namespace_files import NamespaceFiles
from stackcost.contracts.collector import Collector
from stackcost.contracts.metrics import (
    CONNTRACK_ENTRIES,
    INTERFACE_BYTES,
    INTERFACE_PACKETS,
    IP_COUNTER,
    NEIGHBOUR_UNRESOLVED,
    SOCKSTAT_MEMORY,
    SOCKSTAT_SOCKETS,
    TCP_COUNTER,
)
from stackcost.contracts.sample import Kind, Metric, Sample
from stackcost.host.kernel_tables import counter_table, interfaces, sockstat

NET = "/proc/thread-self/net"
FILES = {
    "sockstat": f"{NET}/sockstat",
    "snmp": f"{NET}/snmp",
    "netstat": f"{NET}/netstat",
    "snmp6": f"{NET}/snmp6",
    "dev": f"{NET}/dev",
    "arp": f"{NET}/arp",
    "conntrack": "/proc/sys/net/netfilter/nf_conntrack_count",
}
ESTABLISHED = Metric("tcp.established", "1", Kind.GAUGE, "/proc/net/snmp Tcp CurrEstab")
ERRORS = Metric("interface.errors", "1", Kind.COUNTER, "/proc/net/dev")
DROPS = Metric("interface.drops", "1", Kind.COUNTER, "/proc/net/dev")

# What IP_COUNTER discards, and why; the names of /proc/net/snmp6 have their "Ip6" already.
IP_LOSSES = ("InDiscards", "OutDiscards", "OutNoRoutes", "FragFails")
IP6_LOSSES = ("InTooBigErrors", "InNoRoutes", *IP_LOSSES)
UNREACHABLE = "OutDestUnreachs"  # of Icmp and Icmp6: what was answered with that, and dropped
COMPLETE = 0x2  # ATF_COM of the kernel's include/uapi/linux/if_arp.h
CONSTANTS = ("RtoAlgorithm", "RtoMin", "RtoMax", "MaxConn")  # of table Tcp, not counters


class Network(Collector):
    """Reads the namespace of a name of `ip netns`; this process's own when there is none."""

    name = "network"
    metrics = (
        SOCKSTAT_SOCKETS,
        SOCKSTAT_MEMORY,
        TCP_COUNTER,
        IP_COUNTER,
        NEIGHBOUR_UNRESOLVED,
        ESTABLISHED,
        INTERFACE_BYTES,
        INTERFACE_PACKETS,
        ERRORS,
        DROPS,
        CONNTRACK_ENTRIES,
    )

    def __init__(self, namespace: str | None = None):
        self._files = NamespaceFiles(namespace, FILES)
        self._labels = {"namespace": namespace or "host"}

    def start(self) -> None:
        """Open the namespace's files."""
        self._files.open()

    def read(self) -> list[Sample]:
        """Sockets by protocol and state, TCP's counters, each interface's, tracked connections."""
        now = time.monotonic()
        return [
            *self._sockets(now),
            *self._tcp(now, "snmp", "Tcp"),
            *self._tcp(now, "netstat", "TcpExt"),
            *self._ip(now),
            *self._neighbours(now),
            *self._interfaces(now),
            self._conntrack(now),
        ]

    def stop(self) -> None:
        """Close the files, which releases the namespace."""
        self._files.close()

    def _sockets(self, now: float) -> Iterator[Sample]:
        for (protocol, state), value in sockstat(self._files.text("sockstat")).items():
            labels = {**self._labels, "protocol": protocol}
            if state == "mem":
                size = value * os.sysconf("SC_PAGE_SIZE")
                yield SOCKSTAT_MEMORY.sample(now, size, **labels)
            elif state != "memory":  # of FRAG, in bytes, not of sockets
                yield SOCKSTAT_SOCKETS.sample(now, value, **labels, state=state)

    def _tcp(self, now: float, file: str, table: str) -> Iterator[Sample]:
        for name, value in self._table(file, table).items():
            if name == "CurrEstab":
                yield ESTABLISHED.sample(now, value, **self._labels)
            elif name not in CONSTANTS:
                yield TCP_COUNTER.sample(now, value, **self._labels, counter=table + name)

    def _ip(self, now: float) -> Iterator[Sample]:
        found = {f"Ip{name}": value for name, value in self._table("snmp", "Ip").items()}
        found[f"Icmp{UNREACHABLE}"] = self._table("snmp", "Icmp")[UNREACHABLE]
        if "snmp6" in self._files:
            rows = (row.split() for row in self._files.text("snmp6").splitlines())
            found |= {name: int(value) for name, value in rows}
        wanted = [f"Ip{name}" for name in IP_LOSSES] + [f"Ip6{name}" for name in IP6_LOSSES]
        for name in (*wanted, f"Icmp{UNREACHABLE}", f"Icmp6{UNREACHABLE}"):
            if name in found:
                yield IP_COUNTER.sample(now, found[name], **self._labels, counter=name)

    def _neighbours(self, now: float) -> Iterator[Sample]:
        """IPv4 neighbours that do not answer ARP; those of IPv6 are in no file."""
        for line in self._files.text("arp").splitlines()[1:]:
            address, _, flags, *_, interface = line.split()
            if not int(flags, 16) & COMPLETE:
                yield NEIGHBOUR_UNRESOLVED.sample(
                    now, 1, **self._labels, interface=interface, address=address
                )

    def _table(self, file: str, table: str) -> dict[str, int]:
        return counter_table(self._files.text(file), table)

    def _interfaces(self, now: float) -> Iterator[Sample]:
        for interface, columns in interfaces(self._files.text("dev")).items():
            for direction, first in (("receive", 0), ("send", 8)):
                labels = {
                    **self._labels,
                    "interface": interface,
                    "direction": direction,
                }
                for column, metric in enumerate(
                    (INTERFACE_BYTES, INTERFACE_PACKETS, ERRORS, DROPS)
                ):
                    yield metric.sample(now, columns[first + column], **labels)

    def _conntrack(self, now: float) -> Sample:
        if "conntrack" not in self._files:
            reason = "this kernel does not track connections (no nf_conntrack)"
            return CONNTRACK_ENTRIES.unknown(now, reason, **self._labels)
        return CONNTRACK_ENTRIES.sample(now, int(self._files.text("conntrack")), **self._labels)
