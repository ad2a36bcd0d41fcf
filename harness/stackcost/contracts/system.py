"""A system under test as a record: its server, and the settings that a matrix varies."""

from collections.abc import Mapping, Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

Setting = str | int | float | bool
NETWORK = "network."  # begins the names of the network's settings in a matrix
LABELS = {  # how a label says the value of a setting, for those that do not say it alone
    "cores": "{}-cores",
    "workers": "{}-workers",
    "response_bytes": "{}-B",
    "rules": "{}-rules",
    "network.loss": "{:g}-loss",
    "network.delay_ms": "{:g}-ms-delay",
    "network.jitter_ms": "{:g}-ms-jitter",
    "network.reorder": "{:g}-reorder",
    "network.duplicate": "{:g}-duplicate",
    "network.rate_mbit": "{:g}-Mbit",
}
AXES = {"cores": "cores", "workers": "worker processes"}  # of tables of HTTP clients, with words


class System(BaseModel):
    """One server with one set of settings.

    Programs read `server` and `settings`. `name` is a label: the server, and after a colon the
    settings, such as "nginx/kernel:stock,2-workers,32000-B"; only an experiment's `baseline` and
    `against` are compared with its parts.
    """

    model_config = ConfigDict(frozen=True)

    name: str = Field(description="label of the system; each system of a run has its own")
    server: str = Field(
        description="the server's name, with that of another stack: nginx/onload-balanced"
    )
    settings: dict[str, Setting] = Field(
        default={}, description="the settings that the matrix varies, by their keys in the matrix"
    )

    @classmethod
    def of(cls, server: str, settings: Mapping[str, Setting] | None = None) -> Self:
        """The system of these settings, labelled."""
        settings = dict(settings or {})
        parts = ",".join(label(setting, value) for setting, value in settings.items())
        return cls(name=f"{server}:{parts}" if parts else server, server=server, settings=settings)

    @property
    def network(self) -> dict[str, float]:
        """The settings of the network that vary, as `NetworkSettings` has them."""
        return {
            setting.removeprefix(NETWORK): float(value)
            for setting, value in self.settings.items()
            if setting.startswith(NETWORK)
        }

    def without(self, *settings: str) -> "System":
        """The system that all have in common which differ in these settings alone."""
        others = {name: value for name, value in self.settings.items() if name not in settings}
        return System.of(self.server, others)

    def without_network(self) -> "System":
        """The system that all have in common which differ in the network alone."""
        return self.without(*(name for name in self.settings if name.startswith(NETWORK)))

    def axis(self) -> tuple["System", int, str]:
        """The system without its number of cores or workers, that number, and what it counts.

        1 and nothing where neither varies.
        """
        for setting, what in AXES.items():
            if setting in self.settings:
                return self.without(setting), int(self.settings[setting]), what
        return self.without(), 1, ""


class NotMeasured(System):
    """A system that could not be measured, and why."""

    why: str


def label(setting: str, value: Setting) -> str:
    """The part of a system's name for a setting of the matrix."""
    if setting == "reuseport":
        return "reuseport" if value else "one-listener"
    if setting == "kernel":  # a version, or the path of a file
        return f"linux-{str(value).rpartition('/')[2]}"
    return LABELS.get(setting, "{}").format(value)


def is_device(server: str) -> bool:
    """Whether the suite's name of a server is that of a device under test."""
    return server.startswith("dut/")


def fits(system: System, wanted: str) -> bool:
    """Whether `wanted` is a system's name, or its server's name with some of its settings."""
    server, _, parts = wanted.partition(":")
    own = {label(setting, value) for setting, value in system.settings.items()}
    return system.server == server and _parts(parts) <= own


def pairs(
    systems: Sequence[System], baseline: str | Sequence[str], against: str
) -> tuple[tuple[str, str], ...]:
    """The names of the pairs of the factors (numerator, denominator), with equal response lengths,
    equal networks, and TLS alike, unless `against` says which.

    As an experiment's `baseline` (one or several) and `against` say it.
    """
    numerators = [baseline] if isinstance(baseline, str) else baseline
    wanted = _parts(against.partition(":")[2])
    return tuple(
        (above.name, below.name)
        for above in systems
        for below in systems
        if any(fits(above, name) for name in numerators)
        and fits(below, against)
        and above != below
        and _equal(above, below, "response_bytes")
        and above.network == below.network
        and (below.settings.get("tls") in wanted or _equal(above, below, "tls"))
    )


def _equal(one: System, other: System, setting: str) -> bool:
    return one.settings.get(setting) == other.settings.get(setting)


def _parts(text: str) -> set[str]:
    return set(filter(None, text.split(",")))
