"""nftables' limit of new connections (token bucket) and ct count of open ones."""

from stackcost.duts.tracking import TrackingDut

BURST_S = 0.01  # seconds of the allowed rate that may pass at once after a pause
LEAST_BURST = 5  # connections; nftables' own default
CLIENTS = 65_535  # client addresses that can be counted
RULESET = """table {family} stackcost {{
    set clients {{
        type ipv{version}_addr
        size {clients}
        flags dynamic
    }}
    chain forward {{
        type filter hook forward priority filter; policy accept;
        ct state established,related accept
        {limits}
    }}
}}
"""


class ConnectionLimit(TrackingDut):
    """A firewall with the limits that are set; it silently drops connections above a limit."""

    name = "dut/connection_limit"

    def ruleset(self) -> str:
        """Both limits apply to new connections; established ones are accepted before."""
        settings, limits = self.settings.dut, []
        family = "ip" if self.ip_version == 4 else "ip6"
        if rate := settings.new_per_second:
            burst = max(LEAST_BURST, round(rate * BURST_S))
            limits.append(f"ct state new limit rate over {rate}/second burst {burst} packets drop")
        if flows := settings.flows_per_client:
            limits.append(
                f"ct state new add @clients {{ {family} saddr ct count over {flows} }} drop"
            )
        return RULESET.format(
            family=family,
            version=self.ip_version,
            clients=CLIENTS,
            limits="\n        ".join(limits),
        )
