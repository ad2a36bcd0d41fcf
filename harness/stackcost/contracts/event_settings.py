"""What the events of a device's standard set are made of."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

LAST_FLOWS_S = 12.0  # of mixed traffic: idle sessions stay for a while
THROUGH = 0.95  # of the new connections of a second, from which on the device has recovered
EventName = Literal["exhaustion", "half_open", "cut", "killed"]
Event = Literal["mix", EventName]
EXHAUSTING: tuple[Event, ...] = ("exhaustion", "half_open")


class EventSettings(BaseModel):
    """Times in seconds from the start of the traffic.

    `table`: entries that the device's table is limited to, for `exhaustion` and `half_open`.
    `flood`: connections that are to be held, or never completed, more than the table has room for.
    `seconds`, `half_open_seconds`: how long new connections are tried, so how long recovery is
    waited for at most: the time-out, and a minute for the kernel's sweep of the table. `cut_at`:
    when the link to the servers goes down for good, or the device is removed whole. `mix_loads`:
    flows a second of mixed traffic, each for `mix_step_s`. `dead_timeout_s`: for how long a device
    whose table is exhausted keeps a closed or unanswered connection in it; None: as long as it does
    by itself.
    """

    model_config = ConfigDict(frozen=True)

    table: int = 10_000
    established: int = 200
    flood: int = 12_000
    flood_cps: float = 3_000
    hold_seconds: float = 4
    probe_cps: float = 50
    seconds: float = Field(default=200, gt=10)
    half_open_seconds: float = 200
    dead_timeout_s: int | None = None
    cut_at: float = 3
    cut_seconds: float = 12
    mix_loads: tuple[float, ...] = (1_000, 2_000, 4_000, 8_000, 16_000, 24_000, 32_000, 48_000)
    mix_step_s: float = 10

    @property
    def flood_ends(self) -> float:
        """When the last connection of the flood closes."""
        return self.flood / self.flood_cps + self.hold_seconds

    @property
    def few(self) -> float:
        """New connections a second that may be on their way at a reading."""
        return (1 - THROUGH) * self.probe_cps + 2

    def of_exhausted(self) -> dict[str, int | None]:
        """Settings of a device whose table is to be exhausted."""
        return {"tracked_limit": self.table, "dead_timeout_s": self.dead_timeout_s}

    def length(self, event: Event) -> float:
        """About how long its traffic lasts."""
        mix = self.mix_step_s * (len(self.mix_loads) + 1) + LAST_FLOWS_S
        seconds = {
            "mix": mix,
            "exhaustion": self.seconds,
            "half_open": self.half_open_seconds,
        }
        return seconds.get(event, self.cut_seconds)

    def tunables(self, event: Event) -> dict[str, dict[str, Any]]:
        """Arguments of the profile by template group; what floods is started last."""
        seconds = self.length(event)
        groups: dict[str, dict[str, Any]] = {
            "established": {"flows": self.established, "cps": self.established, "seconds": seconds},
            "probe": {"cps": self.probe_cps},
        }
        if event in EXHAUSTING:
            flood = {"cps": self.flood_cps, "hold_seconds": self.hold_seconds}
            name = "flood" if event == "exhaustion" else event
            groups[name] = {"flows": self.flood, **flood}
        return {name: {"group": name, **arguments} for name, arguments in groups.items()}


QUICK = EventSettings(seconds=80, half_open_seconds=80, mix_step_s=3, dead_timeout_s=5)
