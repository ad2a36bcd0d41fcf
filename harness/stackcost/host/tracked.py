"""Forgetting the connections that a network namespace tracks."""

import threading

from pyroute2 import NFCTSocket, netns

from stackcost.contracts.errors import StackcostError


def forget_tracked(namespace: str) -> None:
    """Delete all entries of the namespace's connection tracking table (as conntrack -F does)."""
    failed: list[Exception] = []

    def flush() -> None:
        try:
            netns.setns(namespace, flags=0)
            with NFCTSocket() as table:
                table.flush()
        except Exception as error:  # told by the thread that asked
            failed.append(error)

    thread = threading.Thread(target=flush, name="forget tracked")
    thread.start()
    thread.join()
    if failed:
        raise StackcostError(
            f"the tracked connections of {namespace} could not be deleted: {failed[0]}",
            "the kernel needs CONFIG_NF_CT_NETLINK",
        ) from failed[0]
