"""TLS of a load's connections: what an experiment asks for, and what the generator counts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from stackcost.contracts.counts import StoredData
from stackcost.contracts.http import Certificate

LONGEST_NAME = 253  # bytes of a DNS name, RFC 1035 section 2.3.4
TlsVersion = Literal["1.2", "1.3"]
# Of a matrix: without TLS, with a full handshake of each connection, with resumed ones.
VariedTls = Literal["plain", "tls", "tls-resumed"]


def dns_name(name: str) -> str:
    """`name`, if SNI may have it (RFC 6066, section 3), or nothing; ValueError if not."""
    *_, last = labels = name.split(".")
    good = all(re.fullmatch(r"[A-Za-z0-9_-]{1,63}", label) for label in labels)
    if name and (not good or len(name) > LONGEST_NAME or last.isdigit()):
        raise ValueError(
            f"{name!r} is no DNS name: labels of 1 to 63 letters, digits, - and _, with dots "
            f"between, {LONGEST_NAME} bytes in all, and no address"
        )
    return name


class TlsSettings(BaseModel):
    """Every connection of the load has TLS. Clients do not verify the server's certificate. What is
    left out is the library's choice."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    version: Annotated[TlsVersion, BeforeValidator(str)] | None = Field(
        default=None, description="default: both, 1.3 where the server has it"
    )
    group: str = Field(
        default="",
        max_length=1000,
        description="groups for the key exchange by OpenSSL's names, the most wanted first: "
        '"X25519:P-256"',
    )
    cipher: str = Field(
        default="",
        max_length=1000,
        description="cipher suites by OpenSSL's names; those of one version alone exclude the "
        "other",
    )
    certificate: Certificate | None = Field(
        default=None,
        description="key of the server's certificate; default: server.certificate",
    )
    resumption: bool = Field(
        default=False,
        description="the server gives session tickets, and clients use them",
    )
    key_log: bool = Field(
        default=False,
        description="write the secrets of all connections to `tls_keys.log` in the run's logs, as "
        "SSLKEYLOGFILE",
    )
    sni: Annotated[str, AfterValidator(dns_name)] = Field(
        default="", description="DNS name that clients send"
    )
    alpn: str = Field(
        default="",
        max_length=255,
        description='protocol that clients offer, such as "http/1.1"; a connection without it '
        "fails",
    )

    @property
    def words(self) -> str:
        """How connections go, after what they are: " over TLS 1.3"."""
        return f" over TLS {self.version}" if self.version else " over TLS"

    @classmethod
    def varied(cls, asked: Self | None, by: VariedTls) -> Self | None:
        """What a matrix makes of `asked`, which has all but resumption."""
        if by == "plain":
            return None
        return (asked or cls()).model_copy(update={"resumption": by == "tls-resumed"})

    def parameters(self) -> dict[str, Any]:
        """Settings of the generator's RPC stackcost_set_tls."""
        given = {name: value for name, value in self if value}
        if self.certificate:
            given["certificate"] = self.certificate.upper()
        return given


# A core takes the steps of both of its sides in turn, so clients wait for those of servers, too.
STEPS = (
    "handshake_steps",
    "handshake_time_us",
    "waiting",
    "most_waiting",
    "waited_us",
    "longest_waited_us",
)


@dataclass
class TlsCounts(StoredData):
    """What the generator's clients counted of TLS over the whole trial, as RPC stackcost_get_tls
    has it (docs/rpc-extensions.md).

    `asked`: the settings. Handshakes and all up to `truncated` in
    connections; `alerts_...` by their names; bytes and records with payload.
    `most_waiting`: over the generator's cores added up; times in microseconds. `handshake_steps`
    and all after it are of both sides of the generator: the servers behind a device, too.
    """

    asked: TlsSettings
    handshakes_full: int = 0
    handshakes_resumed: int = 0
    failed: int = 0
    ended_in_handshake: int = 0
    not_tls: int = 0
    without_alpn: int = 0
    truncated: int = 0
    alerts_sent: dict[str, int] = field(default_factory=dict)
    alerts_received: dict[str, int] = field(default_factory=dict)
    sent_bytes: int = 0
    sent_records: int = 0
    received_bytes: int = 0
    received_records: int = 0
    lacked_memory: int = 0
    cut_segments: int = 0
    keys_not_kept: int = 0
    handshake_steps: int = 0
    handshake_time_us: int = 0
    waiting: int = 0
    most_waiting: int = 0
    waited_us: int = 0
    longest_waited_us: int = 0

    @property
    def handshakes(self) -> int:
        """Handshakes that were complete."""
        return self.handshakes_full + self.handshakes_resumed

    @property
    def failures(self) -> str:
        """How many connections failed, and the alerts of that, in words; empty if none did."""
        if not self.failed:
            return ""
        reasons = [
            f"alert {alert!r} {way} ({number:,})"
            for way, alerts in (("sent", self.alerts_sent), ("received", self.alerts_received))
            for alert, number in alerts.items()
        ]
        if self.ended_in_handshake:
            reasons.append(f"closed by the peer in the handshake ({self.ended_in_handshake:,})")
        if self.not_tls:
            reasons.append(f"the server does not speak TLS on this port ({self.not_tls:,})")
        if self.without_alpn:
            reasons.append(f"the server chose no protocol by ALPN ({self.without_alpn:,})")
        if not reasons:
            reasons.append("the generator knows no reason")
        return f"{self.failed:,} connections failed in TLS: {', '.join(reasons)}"

    @classmethod
    def of(cls, asked: TlsSettings, told: Mapping[str, Any]) -> Self:
        """The sum over templates. `told`: the answer to the RPC."""
        whole = cls(asked)
        for template in told["templates"]:
            servers = {name: template["server"][name] for name in STEPS}
            for name, value in [*template["client"].items(), *servers.items()]:
                so_far = getattr(whole, name)
                if isinstance(value, dict):
                    for alert, number in value.items():
                        so_far[alert] = so_far.get(alert, 0) + number
                elif name.startswith("longest"):
                    setattr(whole, name, max(so_far, value))
                else:
                    setattr(whole, name, so_far + value)
        return whole
