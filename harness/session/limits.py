"""What a server holds and what it could run into: read under load, and cleared after it."""

from collections.abc import Mapping

import psutil

from stackcost.contracts.counts import Limits, Usage
from stackcost.harness.session.profile_session import ProfileSession
from stackcost.host.namespace import execute


def read_limits(session: ProfileSession, refused_before: Mapping[str, int] | None) -> Limits:
    """What is used and what is granted, for the trial's record; all readings of this moment.

    The server itself is asked last: one that is out of files answers only when flows have closed.
    `refused_before`: what it had refused when the trial began.
    """
    return Limits(
        open_files=_open_files(session),
        accept_queue=_accept_queue(session),
        tracked_connections_limit=_tracked_limit(session),
        refused=_refused_since(session, refused_before),
    )


def open_connections(session: ProfileSession) -> int:
    """TCP connections that the kernel's stack of the server holds open (Tcp CurrEstab)."""
    text = execute(session.bed.wiring.serving, ["cat", "/proc/net/snmp"])
    names, values = (line.split() for line in text.splitlines() if line.startswith("Tcp:"))
    return int(values[names.index("CurrEstab")])


def end_connections(session: ProfileSession) -> None:
    """Reset all connections of the kernel's stack to the server's port (INET_DIAG_DESTROY)."""
    port = session.experiment.workload.port
    command = ["ss", "-K", "-Hnt", "state", "established", f"sport = :{port}"]
    execute(session.bed.wiring.serving, command)


def _refused_since(
    session: ProfileSession, before: Mapping[str, int] | None
) -> dict[str, int] | None:
    now = session.server.refusals()
    if now is None or before is None:
        return None
    return {why: number - before.get(why, 0) for why, number in now.items()}


def _accept_queue(session: ProfileSession) -> Usage | None:
    """Sums over the listening sockets; ss prints of each its state, queue and limit."""
    port = session.experiment.workload.port
    command = ["ss", "-Hltn", f"sport = :{port}"]
    rows = [row.split() for row in execute(session.bed.wiring.serving, command).splitlines()]
    if not rows:
        return None
    return Usage(now=sum(int(row[1]) for row in rows), limit=sum(int(row[2]) for row in rows))


def _open_files(session: ProfileSession) -> dict[str, Usage]:
    found = {}
    for role, number in session.server.processes().items():
        try:
            process = psutil.Process(number)
            limit = process.rlimit(psutil.RLIMIT_NOFILE)[0]
            found[role] = Usage(now=process.num_fds(), limit=limit)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def _tracked_limit(session: ProfileSession) -> int | None:
    path = "/proc/sys/net/netfilter/nf_conntrack_max"
    text = execute(session.bed.server_namespace, ["sh", "-c", f"cat {path} 2>/dev/null || true"])
    return int(text) if text.strip() else None
