"""What an experiment sets of a device under test; each kind takes what it knows."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from stackcost.contracts.addresses import IpVersion

Behind = Literal["engine", "nginx"]


class DutSettings(BaseModel):
    """Section `dut` of an experiment."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    server: Behind = Field(
        default="engine",
        description="what answers behind the device: the generator's own server port, or nginx on "
        "the kernel's stack, in a namespace of its own on the generator's cores",
    )
    ip_version: IpVersion = Field(
        default=4,
        description="4, or 6 for clients and servers that speak IPv6; nat64 translates 6 to 4",
    )
    rules: int = Field(
        default=100,
        ge=0,
        le=100_000,
        description="nftables: rules in a linear list that match no frame of the load",
    )
    established_first: bool = Field(
        default=True,
        description="nftables: accept frames of tracked connections before the list; otherwise "
        "every frame goes through it",
    )
    nat: Literal["masquerade", "static"] = Field(
        default="masquerade",
        description="nat44: all clients behind one address, or each behind one of its own",
    )
    new_per_second: int | None = Field(
        default=None, ge=1, description="connection_limit: new connections let through a second"
    )
    flows_per_client: int | None = Field(
        default=None, ge=1, description="connection_limit: open connections of one client address"
    )
    tracked_limit: int | None = Field(
        default=None,
        ge=100,
        description="those that track connections: nf_conntrack_max while the device stands; it is "
        "the whole machine's, and put back afterwards",
    )
    dead_timeout_s: int | None = Field(
        default=None,
        ge=1,
        description="those that track connections: for how long one that was closed, or that "
        "nobody answered, stays in the table (nf_conntrack_tcp_timeout_time_wait and _syn_sent); "
        "the kernel's default is 120 for both",
    )

    @model_validator(mode="after")
    def _reaches_nginx(self) -> "DutSettings":
        if self.server == "nginx" and self.ip_version == 6:
            raise ValueError(
                "nginx behind a device answers IPv4: ip_version 6 needs server: engine"
            )
        return self
