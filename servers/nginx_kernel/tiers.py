"""Tuning tiers: named sets of settings under which nginx and the kernel's stack are compared."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tier:
    """One way to tune nginx and the kernel.

    `open_files`: worker_rlimit_nofile, None leaves the process limit as it is.
    `sysctls`: values by name. Those that the server's namespace has of its own are set there and
    put back; the others belong to the whole machine and are only reported as not set.
    """

    name: str
    open_files: int | None = None
    sysctls: dict[str, str] = field(default_factory=dict)


STOCK = Tier("stock")

# "Comparing TRex Advanced Stateful performance to Linux NGINX", sections 4.1 and 4.2. Its
# worker_connections of 1,000,000 is left to the parameter of that name: nginx allocates its
# connection and event arrays for all of them at start, gigabytes over many workers, which is no
# cost of a connection. Two of its names exist in no kernel (nf_conntrack_tcp_established,
# sunrpc.tcp_fin_timeout); they are kept, and reported as not set.
PUBLISHED = Tier(
    "published",
    open_files=1_000_000,
    sysctls={
        "fs.file-max": "99999999",
        "net.core.netdev_max_backlog": "9999999",
        "net.core.somaxconn": "65000",
        "net.ipv4.tcp_max_orphans": "128",
        "net.ipv4.tcp_max_syn_backlog": "9999999",
        "net.ipv4.tcp_mem": "1542108 2056147 13084216",
        "net.netfilter.nf_conntrack_tcp_established": "5",
        "net.netfilter.nf_conntrack_tcp_timeout_close": "3",
        "net.netfilter.nf_conntrack_tcp_timeout_close_wait": "3",
        "net.netfilter.nf_conntrack_tcp_timeout_established": "5",
        "net.netfilter.nf_conntrack_tcp_timeout_fin_wait": "1",
        "net.netfilter.nf_conntrack_tcp_timeout_last_ack": "3",
        "net.netfilter.nf_conntrack_tcp_timeout_syn_recv": "3",
        "net.netfilter.nf_conntrack_tcp_timeout_syn_sent": "3",
        "net.netfilter.nf_conntrack_tcp_timeout_time_wait": "3",
        "net.netfilter.nf_conntrack_tcp_timeout_unacknowledged": "10",
        "sunrpc.tcp_fin_timeout": "1",
    },
)

TIERS = {tier.name: tier for tier in (STOCK, PUBLISHED)}
