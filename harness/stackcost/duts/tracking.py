"""The common part of devices that track connections: the limit of the table, and its reset."""

from stackcost.contracts.errors import StackcostError
from stackcost.duts.base import Dut
from stackcost.host import host_sysctl
from stackcost.host.tracked import forget_tracked

TABLE_LIMIT = "net.netfilter.nf_conntrack_max"
DEAD_TIMEOUTS = tuple(
    f"net.netfilter.nf_conntrack_tcp_timeout_{state}" for state in ("time_wait", "syn_sent")
)


class TrackingDut(Dut):
    """A router that has a table of the connections that go through it (nf_conntrack)."""

    def configure(self) -> None:
        """Configure a router, and the table's limit, which applies to all namespaces together."""
        super().configure()
        if host_sysctl.read(TABLE_LIMIT) is None:
            raise StackcostError(
                f"{self.name} needs connection tracking, but the kernel has none",
                "run: modprobe nf_conntrack; the kernel needs CONFIG_NF_CONNTRACK",
            )
        if self.settings.dut.tracked_limit is not None:
            self._limit_table(self.settings.dut.tracked_limit)
        if self.settings.dut.dead_timeout_s is not None:  # these are the namespace's own
            for name in DEAD_TIMEOUTS:
                self.set_sysctl(name, str(self.settings.dut.dead_timeout_s))

    def _limit_table(self, entries: int) -> None:
        host_sysctl.write(TABLE_LIMIT, str(entries))
        seen = int(self.execute("sysctl", "-n", TABLE_LIMIT))
        if seen != entries:
            raise StackcostError(f"{TABLE_LIMIT} of {self.name} is {seen:,} instead of {entries:,}")

    def dead_timeout_s(self) -> int | None:
        """The longer of the two time-outs in its namespace."""
        return max(int(self.execute("sysctl", "-n", name)) for name in DEAD_TIMEOUTS)

    def reset(self) -> None:
        """Empty the table."""
        forget_tracked(self.endpoint.namespace)
