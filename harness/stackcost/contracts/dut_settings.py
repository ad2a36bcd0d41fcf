"""Settings of a device under test; each kind of device uses those that apply to it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from stackcost.contracts.addresses import IpVersion
from stackcost.contracts.wiring import Backend

BackendOn = Literal["device", "load"]
MOST = 1_000_000_000  # of the kernel's numbers, which have 31 bits


class Expectation(BaseModel):
    """What a device's data sheet or its operator says that it holds."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    connections: float | None = Field(
        default=None, gt=0, le=1_000_000_000, description="new connections per second"
    )
    flows: int | None = Field(default=None, ge=1, le=MOST, description="open connections")
    requests: float | None = Field(
        default=None,
        gt=0,
        le=1_000_000_000,
        description="requests per second on connections that stay open",
    )


class ConfiguredDevice(BaseModel):
    """A device that stackcost does not start, configure or read: dut/external.

    The interfaces of the load are joined to its two ports.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str = Field(min_length=1, description="what it is, such as its maker's name for it")
    version: str = Field(default="", description="of its hardware and software")
    notes: str = Field(default="", description="anything to remember")
    forwards: Literal["packets", "frames"] = Field(
        default="packets",
        description="packets: it routes between two networks; frames: it is a bridge",
    )
    expects: Expectation = Field(default=Expectation(), description="ceilings to compare with")


class DutSettings(BaseModel):
    """Section `dut` of an experiment."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    server: Backend = Field(
        default="engine",
        description="server behind the device: the generator's own port, or nginx on the kernel's "
        "stack in a namespace of its own",
    )
    server_on: BackendOn = Field(
        default="device",
        description="cores of nginx behind the device. device: of cores.server, where several are "
        "there the last alone; device and server are then measured whole. load: the generator's, "
        "so the device has its cores alone",
    )
    server_tls: bool = Field(
        default=True,
        description="tls_*: TLS to the server behind, too; false: plain TCP, which needs server: "
        "nginx",
    )
    ip_version: IpVersion = Field(
        default=4,
        description="IPv4 or IPv6 clients and servers; nat64 translates 6 to 4",
    )
    rules: int = Field(
        default=100,
        ge=0,
        le=100_000,
        description="nftables: length of the list of rules, which match no frame; service_*: "
        "other Services on the node",
    )
    endpoints: int = Field(
        default=3,
        ge=1,
        le=1_000,
        description="service_*: endpoints of the Service, one at random for each connection; all "
        "are the same server",
    )
    established_first: bool = Field(
        default=True,
        description="nftables: accept frames of tracked connections before the list",
    )
    nat: Literal["masquerade", "static"] = Field(
        default="masquerade",
        description="nat44: one address for all clients, or one for each",
    )
    new_per_second: int | None = Field(
        default=None,
        ge=1,
        le=10_000_000,
        description="connection_limit: allowed new connections per second",
    )
    flows_per_client: int | None = Field(
        default=None,
        ge=1,
        le=MOST,
        description="connection_limit: allowed open connections per client",
    )
    tracked_limit: int | None = Field(
        default=None,
        ge=100,
        le=MOST,
        description="devices that track connections: nf_conntrack_max of the whole machine, "
        "restored afterwards",
    )
    dead_timeout_s: int | None = Field(
        default=None,
        ge=1,
        le=86_400,
        description="devices that track connections: how long a closed or unanswered connection "
        "stays in the table (nf_conntrack_tcp_timeout_time_wait, _syn_sent); the kernel's default "
        "is 120",
    )

    device: ConfiguredDevice | None = Field(
        default=None, description="dut/external: what the device is"
    )

    @model_validator(mode="after")
    def _reaches_nginx(self) -> "DutSettings":
        if self.server == "nginx" and self.ip_version == 6:
            raise ValueError(
                "nginx behind a device answers IPv4: ip_version 6 needs server: engine"
            )
        return self
