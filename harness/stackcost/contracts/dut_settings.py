"""Settings of a device under test; each kind of device uses those that apply to it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from stackcost.contracts.addresses import IpVersion
from stackcost.contracts.roles import Backend

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

    It is known by its two ports, to which the interfaces of the load are joined, and by this.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str = Field(min_length=1, description="what it is, such as its maker's name for it")
    version: str = Field(default="", description="of its hardware and software")
    notes: str = Field(default="", description="its configuration, or anything else to remember")
    forwards: Literal["packets", "frames"] = Field(
        default="packets",
        description="packets: it routes between two networks; frames: it is a bridge",
    )
    expects: Expectation = Field(
        default=Expectation(), description="ceilings that are expected of it, to compare with"
    )


class DutSettings(BaseModel):
    """Section `dut` of an experiment."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    server: Backend = Field(
        default="engine",
        description="server behind the device: the generator's own server port, or nginx on "
        "the kernel's stack, in a separate namespace",
    )
    server_on: BackendOn = Field(
        default="device",
        description="cores of nginx behind the device. device: those of cores.server; the last of "
        "them is nginx's alone if there are several, so that device and server together are "
        "measured whole. load: the generator's, so that the device has its cores to itself",
    )
    server_tls: bool = Field(
        default=True,
        description="tls_*: TLS to the server behind as well, by new connections of the device; "
        "false: the server gets plain TCP, which needs server: nginx",
    )
    ip_version: IpVersion = Field(
        default=4,
        description="4, or 6 for IPv6 clients and servers; nat64 translates 6 to 4",
    )
    rules: int = Field(
        default=100,
        ge=0,
        le=100_000,
        description="nftables: length of the rule list; the rules match no frame of the load; "
        "service_*: other Services on the node, whose rules come first where rules are a list",
    )
    endpoints: int = Field(
        default=3,
        ge=1,
        le=1_000,
        description="service_*: endpoints of the Service, one is chosen at random for each "
        "connection; all are the same server",
    )
    established_first: bool = Field(
        default=True,
        description="nftables: accept frames of tracked connections before the list; otherwise "
        "every frame goes through it",
    )
    nat: Literal["masquerade", "static"] = Field(
        default="masquerade",
        description="nat44: one address for all clients, or a separate address for each client",
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
        description="devices that track connections: nf_conntrack_max while the device runs; this "
        "setting of the whole machine is restored afterwards",
    )
    dead_timeout_s: int | None = Field(
        default=None,
        ge=1,
        le=86_400,
        description="devices that track connections: how long a closed connection, or one that got "
        "no answer, stays in the table (nf_conntrack_tcp_timeout_time_wait and _syn_sent); "
        "the kernel's default is 120 for both",
    )

    device: ConfiguredDevice | None = Field(
        default=None, description="dut/external: what the device is; stackcost only has its ports"
    )

    @model_validator(mode="after")
    def _reaches_nginx(self) -> "DutSettings":
        if self.server == "nginx" and self.ip_version == 6:
            raise ValueError(
                "nginx behind a device answers IPv4: ip_version 6 needs server: engine"
            )
        return self
