"""Hugepages for the engine: reserved if too few are free, and released afterwards."""

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
    """Numbers of 2 MB pages: `wanted`, and `free` after the reservation.

    `reason`: empty if enough pages are free. Otherwise it says what is missing and how to fix it;
    the engine then uses ordinary pages, which cost it TLB misses.
    """

    wanted: int
    free: int
    reason: str = ""


def reserve(wanted: int) -> Reservation:
    """Make `wanted` pages free if the kernel can. The old setting is recorded first."""
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
        f"only {free} of {wanted} hugepages of 2 MB are free: memory is short or fragmented; "
        f"end other programs, or boot with hugepages={wanted}",
    )


def restore() -> list[UndoStep]:
    """Restore the setting from before `reserve`, if it was changed.

    The record is deleted only after the kernel reports the old value.
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
        "the kernel keeps reserved pages that no program needs; figures do not depend on it",
    )


def describe(reservation: Reservation) -> dict[str, object]:
    """For the manifest."""
    return {"page_bytes": PAGE_BYTES, **asdict(reservation)}


def _setting() -> int:
    """The configured number of pages, without surplus pages.

    After the number was lowered, pages that are still in use count as surplus pages. They go away
    when their program releases them, which may be some time after a kill. If they were taken for
    the setting, the end of the next run would make them permanent.
    """
    return _read("nr_hugepages") - _read("surplus_hugepages")


def _read(name: str) -> int:
    return int((PAGES / name).read_text())


def _write_count(count: int) -> None:
    """The kernel reserves as many as it can; it reports no error if that is fewer."""
    (PAGES / "nr_hugepages").write_text(str(count))
