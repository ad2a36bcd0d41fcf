"""One comparison that has to hold for a trial's figures to be believed."""

from pydantic import BaseModel, ConfigDict


class Check(BaseModel):
    """One comparison. `holds` is None when one side is unknown; `reason` then says why."""

    model_config = ConfigDict(frozen=True)

    name: str
    holds: bool | None
    wanted: str
    seen: str
    reason: str = ""
