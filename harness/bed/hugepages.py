"""Hugepages for the engine: reserved when too few are free, given back afterwards."""

from dataclasses import asdict, dataclass
from pathlib import Path

from stackcost.host.state import StateFile
from stackcost.host.undo import UndoStep, undo

PAGES = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
PAGE_BYTES = 2 << 20
CHANGED = StateFile("hugepages.json", dict[str, int], {})  # the old setting
USUAL_COUNT = 512  # 1 GiB; generator and peer together took 22 pages at 2,000 connections/s


@dataclass(frozen=True, slots=True)
class Reservation:
    """What was asked for and what there is: counts of pages of 2 MB.

    `reason` is empty when `free` covers `wanted`. Otherwise it says what is missing and how to
    fix it; the engine then runs on ordinary pages, which costs it TLB misses.
    """

    wanted: int
    free: int
    reason: str = ""


def reserve(wanted: int) -> Reservation:
    """Make `wanted` pages free if the kernel can; the old setting is written down first."""
    if not PAGES.exists():
        return Reservation(wanted, 0, "this kernel has no 2 MB hugepages (CONFIG_HUGETLBFS)")
    missing = wanted - _read("free_hugepages")
    if missing > 0:
        old = _setting()
        if not CHANGED.read():  # an older value is the true one
            CHANGED.write({"nr_hugepages": old})
        _write_count(old + missing)
    free = _read("free_hugepages")
    if free >= wanted:
        return Reservation(wanted, free)
    return Reservation(
        wanted,
        free,
        f"{free} of {wanted} hugepages of 2 MB could be had: memory is short or in fragments; "
        f"end other programs, or boot with hugepages={wanted}",
    )


def restore() -> list[UndoStep]:
    """Put back the setting from before `reserve`, if it was changed.

    It stays recorded until the kernel was seen to have it.
    """
    steps = [_restore(old) for old in CHANGED.read().values()]
    if all(step.done for step in steps):
        CHANGED.write({})
    return steps


def _restore(old: int) -> UndoStep:
    return undo(
        f"set the number of hugepages back to {old}",
        lambda: _write_count(old),
        lambda: "" if _setting() == old else f"it is {_setting()}",
        "pages of 2 MB are reserved that no program needs; no figure depends on it",
    )


def describe(reservation: Reservation) -> dict[str, object]:
    """For the manifest."""
    return {"page_bytes": PAGE_BYTES, **asdict(reservation)}


def _setting() -> int:
    """What was asked of the kernel, which counts more while a setting lowered is still in use.

    These surplus pages go when their program lets go of them, as one does some time after a kill:
    taken for the setting they would be set for good at the end of the next run.
    """
    return _read("nr_hugepages") - _read("surplus_hugepages")


def _read(name: str) -> int:
    return int((PAGES / name).read_text())


def _write_count(count: int) -> None:
    """The kernel gives as many as it can and reports no error when it is fewer."""
    (PAGES / "nr_hugepages").write_text(str(count))
