"""The common part of Services: what the rules translate, and to what."""

from ipaddress import IPv4Address, IPv4Network
from typing import ClassVar

from stackcost.contracts.addresses import BACKEND_ADDRESS
from stackcost.duts.tracking import TrackingDut

OTHERS = IPv4Network("10.96.0.0/12")  # addresses of the other Services; no client asks for them


class Service(TrackingDut):
    """A node that leads clients of the Service's address to its server (DNAT).

    `settings.dut.rules`: other Services on the node. They come before this one where rules are a
    list. `settings.dut.endpoints`: endpoints of this Service, all of them the one server behind.
    """

    ip_versions = (4,)
    passes_every_port = False
    takes_rules = True
    backend_at: ClassVar[str] = BACKEND_ADDRESS

    @property
    def port(self) -> int:
        """The Service's port, and its server's."""
        return self.endpoint.port

    def others(self) -> list[IPv4Address]:
        """Addresses of the other Services."""
        return [OTHERS[1 + number] for number in range(self.settings.dut.rules)]
