"""The network between clients and server: what an experiment asks of it, and what it did."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

from stackcost.contracts.counts import StoredData

Probability = Annotated[float, Field(ge=0, lt=1)]
Milliseconds = Annotated[float, Field(ge=0, le=10_000)]
Megabits = Annotated[float, Field(ge=0.01, le=1e6)]
COUNTED = ("frames", "lost", "reordered", "duplicated", "no_room", "queue_full")


class NetworkSettings(BaseModel):
    """What becomes of the frames of each direction. Without settings it is the bed's link alone."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    loss: Probability = Field(default=0, description="share of frames that are lost, 0 to 1")
    delay_ms: Milliseconds = Field(default=0, description="delay of each frame")
    jitter_ms: Milliseconds = Field(
        default=0, description="largest random delay that is added to it (uniform)"
    )
    reorder: Probability = Field(
        default=0, description="share of frames that are held back by 0.3 ms"
    )
    duplicate: Probability = Field(default=0, description="share of frames that arrive twice")
    rate_mbit: Megabits | None = Field(
        default=None,
        description="Mbit/s of frames; they queue for at most 100 ms, and those beyond are lost; "
        "default: no limit",
    )

    @property
    def sends_again(self) -> bool:
        """Whether TCP has to send some segments again, whatever the stack."""
        return bool(self.loss or self.reorder or self.duplicate or self.jitter_ms or self.rate_mbit)

    def parameters(self) -> dict[str, float]:
        """Settings of the generator's RPC stackcost_set_impairment."""
        given = {
            "loss": self.loss,
            "delay_us": round(self.delay_ms * 1000),
            "jitter_us": round(self.jitter_ms * 1000),
            "reordering": self.reorder,
            "duplication": self.duplicate,
            "rate_mbit": self.rate_mbit or 0,
        }
        return {name: value for name, value in given.items() if value}


@dataclass(slots=True)
class NetworkCounts(StoredData):
    """What the network did to frames of both directions over the whole trial, as the generator's
    RPC stackcost_get_impairment has it (docs/rpc-extensions.md).

    `asked`: the settings. `frames`: all that came. `lost` by the share asked for; `queue_full` of
    those that waited for the rate; `no_room`: more than the generator could keep, which is an error
    of the measurement.
    """

    asked: NetworkSettings
    frames: int = 0
    lost: int = 0
    reordered: int = 0
    duplicated: int = 0
    no_room: int = 0
    queue_full: int = 0

    @classmethod
    def between(
        cls, asked: NetworkSettings, before: Mapping[str, Any], after: Mapping[str, Any]
    ) -> Self:
        """Of the time between two readings of the generator's counts."""
        return cls(asked, **{name: after[name] - before[name] for name in COUNTED})
