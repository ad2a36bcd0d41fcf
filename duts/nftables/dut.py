"""nftables as a stateful firewall: only clients may open connections."""

from stackcost.duts.tracking import TrackingDut

TRACKED = "ct state established,related accept"
NOBODY = {4: "ip saddr 203.0.113.1", 6: "ip6 saddr 2001:db8::1"}
RULESET = """table inet stackcost {{
    chain forward {{
        type filter hook forward priority filter; policy drop;
        {rules}
    }}
}}
"""


class Nftables(TrackingDut):
    """A firewall with a list of `rules` for each new connection, or for each frame."""

    name = "dut/nftables"
    takes_rules = True

    def ruleset(self) -> str:
        """The rules match a documentation address (RFC 5737, RFC 3849), which no client has."""
        settings, source = self.settings.dut, NOBODY[self.ip_version]
        linear = [f"{source} tcp dport {1 + n % 65535} drop" for n in range(settings.rules)]
        rules = [TRACKED, *linear] if settings.established_first else [*linear, TRACKED]
        rules.append('iifname "sc-dut0" ct state new accept')
        return RULESET.format(rules="\n        ".join(rules))
