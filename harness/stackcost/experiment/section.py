"""The base class of all sections of an experiment file, and types that several sections share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(gt=0, le=3600)]
Rate = Annotated[float, Field(ge=0.001, le=100_000_000)]  # 1e8/s fill 100 Gb/s with SYNs
Core = Annotated[int, Field(ge=0, le=8191)]  # the most that Linux has (NR_CPUS)


class Section(BaseModel):
    """A section of the file. It is immutable, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
