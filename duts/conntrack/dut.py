"""A router that tracks connections and does nothing with what it knows of them."""

from stackcost.duts.tracking import TrackingDut

RULESET = """table inet stackcost {
    chain forward {
        type filter hook forward priority filter; policy accept;
        ct state established,related accept
    }
}
"""


class Conntrack(TrackingDut):
    """Plain forwarding with one rule that asks for a frame's connection, so the kernel tracks."""

    name = "dut/conntrack"

    def ruleset(self) -> str:
        """One rule, which accepts what would be accepted without it."""
        return RULESET
