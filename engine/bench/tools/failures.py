"""Why flows of an engine's failed against a server on the kernel's stack."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from stackcost.collect.network import Network

FAILED = ("tcps_conndrops", "tcps_drops")  # in the handshake, and later
CAUSES = {  # of those of the two that were no reset
    "tcps_keepdrops": "the handshake was not complete within keepinit (5 s), or a peer fell silent",
    "tcps_timeoutdrop": "a segment was sent seven times and never acknowledged",
}
OVERFLOWS = "TcpExtListenOverflows"


@contextmanager
def accept_queue_overflows(namespace: str | None) -> Iterator["Overflows"]:
    """Counts them from here on, in a namespace of `ip netns` or in this process's own."""
    counters = Network(namespace)
    counters.start()
    try:
        yield Overflows(counters)
    finally:
        counters.stop()


class Overflows:
    """How often a listening socket's queue of connections not accepted yet was full."""

    def __init__(self, counters: Network):
        self._counters = counters
        self._before = self._read()

    def count(self) -> int:
        """Since it was made: SYNs and last ACKs of handshakes that the kernel let fall."""
        return self._read() - self._before

    def _read(self) -> int:
        read = self._counters.read()
        return int(sum(s.value or 0 for s in read if s.labels.get("counter") == OVERFLOWS))


def told(where: str, client: Mapping[str, int], overflows: int) -> str:
    """What failed by the client side's counters, and why; empty when nothing did."""
    failed = sum(client[name] for name in FAILED)
    if not failed:
        return ""
    counts = ", ".join(f"{name} {client[name]}" for name in FAILED)
    causes = [f"{name} {client[name]}: {why}" for name, why in CAUSES.items() if client[name]]
    reset = failed - sum(client[name] for name in CAUSES)
    causes += [f"{reset} reset by the server"] if reset > 0 else []
    causes += [f"the accept queue overflowed {overflows} times"] if overflows else []
    whole = client["tcps_connattempt"]
    return f"{where}: {failed} of {whole} flows failed ({counts}); {'; '.join(causes)}"
