"""Examines a host of a test bed before a run, without changing it."""

from collections.abc import Callable, Collection

from stackcost.bed.interfaces import check_free
from stackcost.bed.local import check_root
from stackcost.bed.lock import RunLock
from stackcost.contracts.errors import StackcostError
from stackcost.host.cores import allowed_cores


def examine(interfaces: Collection[str], cores: Collection[int]) -> list[str]:
    """What is wrong with this host as a side of a test bed, in words; empty if nothing is.

    `interfaces`, `cores`: those that the experiment names.
    """
    checks = [check_root, _check_lock, *(lambda name=name: check_free(name) for name in interfaces)]
    return [str(error) for check in checks if (error := _error_of(check))] + _missing(cores)


def _missing(cores: Collection[int]) -> list[str]:
    there = allowed_cores()
    missing = sorted({*cores} - {*there})
    return [f"cores {missing} do not exist; it has cores {there}"] if missing else []


def _check_lock() -> None:
    with RunLock():
        pass


def _error_of(check: Callable[[], None]) -> StackcostError | None:
    try:
        check()
    except StackcostError as error:
        return error
    return None
