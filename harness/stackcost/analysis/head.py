"""What every `summary.json` begins with, whatever kind of run it is the answer of."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

State = Literal["complete", "interrupted"]


class Part(BaseModel):
    """A part of a summary; written once, never changed."""

    model_config = ConfigDict(frozen=True)


class Head(Part):
    """`format`: which kind of summary, and its version. `run`: the folder's name.

    `state`: "complete", or "interrupted" when it ended before its last trial. `basis`: digest of
    what it was computed from, the program and the stored files; see `stackcost.report.answer`.
    `damaged`: in words, what of the stored trials cannot be read; it is in no figure.
    """

    format: str
    run: str
    title: str
    state: State
    machine: dict[str, Any]
    basis: str = ""
    damaged: list[str] = Field(default_factory=list)
