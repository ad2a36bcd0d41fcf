"""What the events of a device's standard set are made of."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

PROFILE = Path(__file__).resolve().parents[2] / "trex_profiles" / "state_exhaustion.py"
Event = Literal["exhaustion", "cut"]


class EventSettings(BaseModel):
    """Times in seconds from the start of the traffic.

    `table`: entries that the device's table is limited to, for `exhaustion`. `flood`: connections
    that are to be held, more than the table has room for. `seconds`: how long new connections are
    tried, so how long recovery is waited for. `cut_at`: when the link to the servers goes down, for
    good.
    """

    model_config = ConfigDict(frozen=True)

    table: int = 10_000
    established: int = 200
    flood: int = 12_000
    flood_cps: float = 3_000
    hold_seconds: float = 4
    probe_cps: float = 50
    seconds: float = Field(default=150, gt=10)
    cut_at: float = 3
    cut_seconds: float = 12

    @property
    def flood_ends(self) -> float:
        """When the last connection of the flood closes."""
        return self.flood / self.flood_cps + self.hold_seconds

    def tunables(self, event: Event) -> dict[str, dict[str, Any]]:
        """Arguments of the profile by template group; nothing floods a link that is to be cut."""
        seconds = self.seconds if event == "exhaustion" else self.cut_seconds
        groups: dict[str, dict[str, Any]] = {
            "established": {"flows": self.established, "cps": self.established, "seconds": seconds},
            "probe": {"cps": self.probe_cps},
        }
        if event == "exhaustion":
            flood = {"cps": self.flood_cps, "hold_seconds": self.hold_seconds}
            groups["flood"] = {"flows": self.flood, **flood}
        return {name: {"group": name, **arguments} for name, arguments in groups.items()}


QUICK = EventSettings(seconds=45)
