"""A tuning tier as data, and the result of each of its settings."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

Context = Literal["main", "events", "http"]  # nginx's own word for a block of its configuration

Where = Literal["namespace", "machine", "server"]

CONGESTION_CONTROL = "net.ipv4.tcp_congestion_control"  # the sysctl, of a network namespace


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Setting(_Part):
    """One value, and its place in the source. `left`: why it is not set here."""

    value: str
    source: str
    left: str = ""

    @field_validator("value", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> str:
        return value if isinstance(value, str) else str(value)


class Receive(_Part):
    """Where receive work of the server's interface is done; see `stackcost.host.steering`.

    `poll_threads`: threaded NAPI. `packet_steering`: RPS. `apart`: on one half of the
    server's cores, which its programs then leave alone; it needs two cores
    (`stackcost.bed.tuning`).
    """

    poll_threads: bool = True
    packet_steering: bool = True
    apart: bool = False
    source: str = ""


class Needs(_Part):
    """The requirements of a tier. `devices`: a pattern of paths. `calls`: a library's function that
    nginx must have been built to call. `hint`: how to get both.
    """

    devices: str = ""
    calls: str = ""
    hint: str = ""


class Tier(_Part):
    """One way to tune nginx and the kernel; `sysctls` and nginx's directives by name.

    `other`: what the source does beside these, which is never done here; each says why in `left`.
    """

    name: str
    title: str
    source: str
    receive: Receive = Receive()
    needs: Needs = Needs()
    sysctls: dict[str, Setting] = Field(default_factory=dict)
    nginx: dict[Context, dict[str, Setting]] = Field(default_factory=dict)

    other: dict[str, Setting] = Field(default_factory=dict)

    @field_validator("other")
    @classmethod
    def _is_left(cls, value: dict[str, Setting]) -> dict[str, Setting]:
        for name, setting in value.items():
            if not setting.left:
                raise ValueError(f"{name}: it has no value, so the key left must give the reason")
        return value

    def directives(self) -> dict[str, dict[str, str]]:
        """nginx's directives by context, those left out excepted."""
        return {
            context: {name: each.value for name, each in settings.items() if not each.left}
            for context, settings in self.nginx.items()
        }


STOCK = Tier(name="stock", title="as installed", source="")


@dataclass(frozen=True, slots=True)
class Change:
    """The result of one setting of a tuning tier. `before` and `after` are read, not assumed.

    `where`: "namespace" of the server, the whole "machine", or the "server" program's own
    configuration. `reason`: why the wanted value is not set; empty if it is.
    """

    setting: str
    where: Where
    wanted: str
    before: str | None
    after: str | None
    source: str
    reason: str = ""
