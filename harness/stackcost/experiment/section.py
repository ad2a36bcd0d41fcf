"""The base class of all sections of an experiment file, and types that several sections share."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from stackcost.contracts.errors import StackcostError
from stackcost.stacks import check_stack, stack_names

Seconds = Annotated[float, Field(gt=0, le=3600)]
Rate = Annotated[float, Field(ge=0.001, le=100_000_000)]  # 1e8/s fill 100 Gb/s with SYNs
Core = Annotated[int, Field(ge=0, le=8191)]  # the most that Linux has (NR_CPUS)


def _known_stack(name: str) -> str:
    try:
        check_stack(name)
    except StackcostError as error:
        raise ValueError(str(error)) from error
    return name


StackName = Annotated[str, AfterValidator(_known_stack), WithJsonSchema({"enum": stack_names()})]


class Section(BaseModel):
    """A section of the file. It is immutable, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
