"""What all sections of an experiment file are, and the words that several of them use."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from stackcost.contracts.errors import StackcostError
from stackcost.stacks import check_stack, stack_names

Seconds = Annotated[float, Field(gt=0, le=3600)]
Rate = Annotated[float, Field(gt=0)]
Core = Annotated[int, Field(ge=0)]


def _known_stack(name: str) -> str:
    try:
        check_stack(name)
    except StackcostError as error:
        raise ValueError(str(error)) from error
    return name


StackName = Annotated[str, AfterValidator(_known_stack), WithJsonSchema({"enum": stack_names()})]


class Section(BaseModel):
    """A mapping of the file: immutable, and nothing in it that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)
