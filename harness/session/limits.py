"""What a server holds and what it could run into: read under load, and cleared after it."""

from collections.abc import Mapping

import psutil

from stackcost.contracts.counts import Limits, Usage
from stackcost.harness.session.server_session import ServerSession
from stackcost.host.namespace import execute


def read_limits(session: ServerSession, port: int) -> Limits:
    """What is used and what is granted, for the trial's record; all readings of this moment.

    `port`: of the listeners. `refused` is left out, as it is counted over the whole trial: see
    `refused_since`.
    """
    queue = session.stack.accept_queue(session.bed.wiring.serving, port)
    return Limits(
        open_files=_open_files(session),
        accept_queue=None if isinstance(queue, str) else queue,
        tracked_connections_limit=_tracked_limit(session),
        no_accept_queue=queue if isinstance(queue, str) else "",
    )


def refused_since(
    session: ServerSession, before: Mapping[str, int] | None
) -> dict[str, int] | None:
    """What the server itself turned away since `before`, by reason; None when it did not answer.

    To be asked after the load: a server that is out of files answers only when flows have closed.
    """
    now = session.server.refusals()
    if now is None or before is None:
        return None
    return {why: number - before.get(why, 0) for why, number in now.items()}


def open_connections(session: ServerSession) -> int:
    """TCP connections that the kernel's stack of the server holds open (Tcp CurrEstab)."""
    text = execute(session.bed.wiring.serving, ["cat", "/proc/net/snmp"])
    names, values = (line.split() for line in text.splitlines() if line.startswith("Tcp:"))
    return int(values[names.index("CurrEstab")])


def end_connections(session: ServerSession) -> None:
    """Reset all connections of the kernel's stack to the server's port (INET_DIAG_DESTROY)."""
    port = session.experiment.workload.port
    command = ["ss", "-K", "-Hnt", "state", "established", f"sport = :{port}"]
    execute(session.bed.wiring.serving, command)


def _open_files(session: ServerSession) -> dict[str, Usage]:
    found = {}
    for role, number in session.server.processes().items():
        try:
            process = psutil.Process(number)
            limit = process.rlimit(psutil.RLIMIT_NOFILE)[0]
            found[role] = Usage(now=process.num_fds(), limit=limit)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def _tracked_limit(session: ServerSession) -> int | None:
    path = "/proc/sys/net/netfilter/nf_conntrack_max"
    text = execute(session.bed.server_namespace, ["sh", "-c", f"cat {path} 2>/dev/null || true"])
    return int(text) if text.strip() else None
