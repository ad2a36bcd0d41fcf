"""A Service by rules of iptables, as kube-proxy's mode iptables makes them."""

from typing import ClassVar

from .base import Service

# The chains, matches and comments of pkg/proxy/iptables/proxier.go of Kubernetes 1.2x.
RULESET = """*nat
:KUBE-SERVICES - [0:0]
:KUBE-SVC-OTHER - [0:0]
:KUBE-SVC-OWN - [0:0]
{chains}
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
{services}
{choices}
{endpoints}
COMMIT
*filter
:KUBE-FORWARD - [0:0]
-A FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD
-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP
-A KUBE-FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
COMMIT
"""
SERVICE = (
    '-A KUBE-SERVICES -d {address}/32 -p tcp -m comment --comment "{name} cluster IP" '
    "-m tcp --dport {port} -j {chain}"
)
CHOICE = '-A KUBE-SVC-OWN -m comment --comment "stackcost/own:http -> {to}"{share} -j {chain}'
RANDOM = " -m statistic --mode random --probability {share:.10f}"
ENDPOINT = (
    '-A {chain} -p tcp -m comment --comment "stackcost/own:http" -m tcp '
    "-j DNAT --to-destination {to}"
)


class IptablesService(Service):
    """A list of rules for Services, and one of rules for endpoints with rising probabilities.

    By the command that Debian calls iptables: its rules are nftables' (nf_tables), with the
    matches of iptables.
    """

    name = "dut/service_iptables"
    restore: ClassVar[str] = "iptables-nft-restore"

    def ruleset(self) -> str:
        """What `iptables-restore` reads."""
        port, count = self.port, self.settings.dut.endpoints
        to, chains = f"{self.backend_at}:{port}", [f"KUBE-SEP-{n}" for n in range(count)]
        services = [
            SERVICE.format(address=address, name=f"other/{n}", port=port, chain="KUBE-SVC-OTHER")
            for n, address in enumerate(self.others())
        ]
        own = SERVICE.format(
            address=self.endpoint.address,
            name="stackcost/own:http",
            port=port,
            chain="KUBE-SVC-OWN",
        )
        choices = [
            CHOICE.format(to=to, share=_share(count - n), chain=chain)
            for n, chain in enumerate(chains)
        ]
        return RULESET.format(
            chains="\n".join(f":{chain} - [0:0]" for chain in chains),
            services="\n".join([*services, own]),
            choices="\n".join(choices),
            endpoints="\n".join(ENDPOINT.format(chain=chain, to=to) for chain in chains),
        )

    def apply_rules(self) -> None:
        """Load them in one step; what was there is replaced."""
        self.execute("nft", "flush", "ruleset")
        self.execute(self.restore, stdin=self.ruleset())


class IptablesLegacyService(IptablesService):
    """A Service by rules in the kernel's older tables (ip_tables)."""

    name = "dut/service_iptables_legacy"
    restore = "iptables-legacy-restore"


def _share(left: int) -> str:
    """The match that takes one in `left` of what comes to it; the last rule takes all."""
    return RANDOM.format(share=1 / left) if left > 1 else ""
