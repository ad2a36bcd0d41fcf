"""A Service by a map of nftables, as kube-proxy's mode nftables has it."""

from .base import Service

RULESET = """table ip stackcost {{
    map services {{
        type ipv4_addr . inet_proto . inet_service : verdict
        elements = {{ {services} }}
    }}
    chain prerouting {{
        type nat hook prerouting priority dstnat; policy accept;
        ip daddr . meta l4proto . th dport vmap @services
    }}
    chain service {{
        numgen random mod {count} vmap {{ {choices} }}
    }}
    chain other {{
    }}
{endpoints}
    chain forward {{
        type filter hook forward priority filter; policy accept;
        ct state invalid drop
        ct state established,related accept
    }}
}}
"""
ENDPOINT = """    chain endpoint-{number} {{
        meta l4proto tcp dnat to {address}:{port}
    }}"""


class NftablesService(Service):
    """One look-up finds the Service, one random number its endpoint, however many there are."""

    name = "dut/service_nftables"

    def ruleset(self) -> str:
        """One table, with a chain for each endpoint."""
        port, count = self.port, self.settings.dut.endpoints
        services = [f"{address} . tcp . {port} : goto other" for address in self.others()]
        services.append(f"{self.endpoint.address} . tcp . {port} : goto service")
        return RULESET.format(
            services=",\n            ".join(services),
            count=count,
            choices=", ".join(f"{number} : goto endpoint-{number}" for number in range(count)),
            endpoints="\n".join(
                ENDPOINT.format(number=number, address=self.backend_at, port=port)
                for number in range(count)
            ),
        )
