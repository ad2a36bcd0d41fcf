"""Values that a bed cannot have are refused when an experiment is read. No test bed."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Experiment
from tests.docs.test_reference import below
from tests.experiment.test_read_file import edited, line_of

OWN_NUMBERS = "settings"  # of a kind of load of the user's own, which checks them
BEYOND_EVERYTHING = (10**18, 1e18, math.inf, -math.inf, math.nan, -1)


def fields(
    model: type[BaseModel], at: str = ""
) -> Iterator[tuple[str, type[BaseModel], FieldInfo]]:
    """Every field of a section and of those below it."""
    for name, field in model.model_fields.items():
        if inner := below(field.annotation):
            yield from fields(inner, f"{at}{name}.")
        yield f"{at}{name}", model, field


def accepted(model: type[BaseModel], field: FieldInfo, value: object) -> bool:
    """Whether a field takes a number as its value, or in its list, and keeps it as a number."""
    config = ConfigDict(allow_inf_nan=model.model_config.get("allow_inf_nan", True))
    kind = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    if below(field.annotation):
        return False
    checked: TypeAdapter[Any] = TypeAdapter(kind, config=config)
    for given in (value, [value], [0, value]):
        try:
            found = checked.validate_python(given)
        except ValidationError:
            continue
        if any(
            isinstance(each, int | float) for each in (found if type(found) is list else [found])
        ):
            return True
    return False


def test_every_number_of_an_experiment_has_limits() -> None:
    every = [each for each in fields(Experiment) if not each[0].endswith(OWN_NUMBERS)]
    assert len(every) > 100
    unlimited = [
        f"{path}: {value}"
        for path, model, field in every
        for value in BEYOND_EVERYTHING
        if accepted(model, field, value)
    ]
    assert not unlimited


ADDRESSES = "clients: 16.0.0.1-16.0.0.200"
SERVER = "server: 48.0.0.1"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (ADDRESSES, "clients: 127.0.0.1-127.0.0.200", "workload.clients: no host .* loopback"),
        (ADDRESSES, "clients: 224.0.0.1-224.0.0.200", "workload.clients: no host .* multicast"),
        (ADDRESSES, "clients: 169.254.0.1-169.254.0.9", "workload.clients: no host .* link-local"),
        (ADDRESSES, "clients: 126.0.0.1-128.0.0.1", "workload.clients: no host .* loopback"),
        (ADDRESSES, "clients: 0.0.0.0-0.0.0.9", "workload.clients: no host .* name no host"),
        (ADDRESSES, "clients: 255.255.255.254-255.255.255.255", "workload.clients: .* broadcast"),
        (ADDRESSES, "clients: 198.18.0.1-198.18.0.9", "workload.clients: .* own links"),
        (ADDRESSES, "clients: 16.0.0.1", "workload.clients: a range has two ends"),
        (ADDRESSES, "clients: 16.0.0.1-32.0.0.1", "268,435,457 addresses are more than the"),
        (SERVER, "server: 127.0.0.1", "workload.server: no host .* loopback"),
        (SERVER, "server: 239.1.1.1", "workload.server: no host .* multicast"),
        (SERVER, "server: 0.0.0.0", "workload.server: no host .* name no host"),
        (SERVER, "server: 255.255.255.255", "workload.server: no host .* broadcast"),
        (SERVER, "server: 16.0.0.7", "workload.server: it is one of the clients, 16.0.0.1-16"),
        ("  load: [0]", "  load: [0, 0]", "cores.load: the list contains a value twice"),
        ("[0.25, 0.5, 0.75]", "[0.5, 0.5]", "offered_shares: the list contains a value twice"),
        ("[0, 2000, 5000, 10000, 15000]", "[0, 20000000]", "12,595,000 source ports of 200"),
    ],
)
def test_what_no_bed_can_have_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    path = edited(tmp_path, (old, new))
    with pytest.raises(StackcostError, match=told) as caught:
        read_experiment(path)
    if "source ports" not in told:
        assert f"line {line_of(path, new)}:" in caught.value.what


@pytest.mark.parametrize("rates", ["[.inf]", "[.nan]", "[1e18]", "[0]", "[300, 300]", "[300, 3e2]"])
def test_rates_that_cannot_be_offered_are_refused_with_their_line(
    tmp_path: Path, rates: str
) -> None:
    path = edited(tmp_path, ("offered_shares: [0.25, 0.5, 0.75]", f"offered_cps: {rates}"))
    with pytest.raises(StackcostError, match=r"load\.offered_cps") as caught:
        read_experiment(path)
    assert f"line {line_of(path, f'offered_cps: {rates}')}:" in caught.value.what


def test_shares_that_differ_are_rates_that_differ(tmp_path: Path) -> None:
    path = edited(tmp_path, ("[0.25, 0.5, 0.75]", "[0.5, 0.501]"))
    rates = read_experiment(path).load.rates_of(1000)
    assert rates == [500, 501]
