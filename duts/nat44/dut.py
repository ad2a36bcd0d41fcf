"""Source NAT by nftables."""

from stackcost.contracts.addresses import CLIENT_NETWORK
from stackcost.duts.tracking import TrackingDut

TRANSLATED_NETWORK = "10.0.0.0/8"  # same host part, so that each client has an address of its own
RULESET = """table ip stackcost {{
    chain postrouting {{
        type nat hook postrouting priority srcnat; policy accept;
        oifname "sc-dut1" {translation}
    }}
}}
"""


class Nat44(TrackingDut):
    """`masquerade`: a port for each connection; `static`: an address for each client."""

    name = "dut/nat44"
    ip_versions = (4,)

    def ruleset(self) -> str:
        """One rule; the kernel undoes it for the frames that come back."""
        prefixes = f"{{ {CLIENT_NETWORK} : {TRANSLATED_NETWORK} }}"
        translation = {
            "masquerade": "masquerade",
            "static": f"snat ip prefix to ip saddr map {prefixes}",
        }
        return RULESET.format(translation=translation[self.settings.dut.nat])
