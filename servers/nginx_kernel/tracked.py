"""nginx on the kernel's stack of a host that tracks connections and has NAT, and needs neither."""

from typing_extensions import override

from stackcost.host.namespace import execute
from stackcost.host.tracked import forget_tracked

from .server import NginxKernel

NONE = "add table inet stackcost\ndelete table inet stackcost\n"  # whether there is one or not
# What a host has on which a container or a guest was started once. 192.0.2.0/24 is in use nowhere
# (RFC 5737), so no connection is translated; each is looked up.
RULES = """table inet stackcost {
    chain input {
        type filter hook input priority filter; policy accept;
        ct state established,related accept
    }
    chain postrouting {
        type nat hook postrouting priority srcnat; policy accept;
        ip saddr 192.0.2.0/24 masquerade
    }
}
"""


class NginxTracked(NginxKernel):
    """`NginxKernel` with a rule that asks for a frame's connection, and one of NAT."""

    name = "nginx-tracked/kernel"
    not_counted = "its rules are not in the guest; count nginx/kernel with them in counted.script"

    @override
    def start(self) -> None:
        super().start()
        try:
            self._load(NONE + RULES)
        except BaseException:
            self.stop()
            raise

    @override
    def stop(self) -> None:
        super().stop()
        self._load(NONE)

    @override
    def reset(self) -> None:
        """Empty the table."""
        forget_tracked(self.endpoint.namespace)

    def _load(self, rules: str) -> None:
        execute(self.endpoint.namespace, ["nft", "-f", "-"], rules)
