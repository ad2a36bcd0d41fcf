"""What all sections of an experiment file are, and the words that several of them use."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(gt=0, le=3600)]
Rate = Annotated[float, Field(gt=0)]
Core = Annotated[int, Field(ge=0)]


class Section(BaseModel):
    """A mapping of the file: immutable, and nothing in it that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)
