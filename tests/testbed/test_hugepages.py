"""Hugepages are reserved, reported honestly when short, and given back."""

from pathlib import Path

import pytest

from harness.testbed import hugepages


def pages(name: str) -> int:
    return int((hugepages.PAGES / name).read_text())


@pytest.mark.bed
def test_enough_free_pages_change_nothing() -> None:
    before = pages("nr_hugepages")
    reservation = hugepages.reserve(pages("free_hugepages"))
    assert reservation.reason == "" and pages("nr_hugepages") == before
    assert hugepages.restore() is None


@pytest.mark.bed
def test_missing_pages_are_added_and_given_back() -> None:
    before = pages("nr_hugepages")
    wanted = pages("free_hugepages") + 3
    reservation = hugepages.reserve(wanted)
    try:
        assert reservation == hugepages.Reservation(wanted, wanted)
        hugepages.reserve(wanted + 2)  # the value to go back to stays the first
    finally:
        assert hugepages.restore() == f"hugepages set back to {before}"
    assert pages("nr_hugepages") == before


def test_too_few_pages_are_reported_with_both_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files in place of the kernel's, which would give nearly all memory before it gives up."""
    (tmp_path / "nr_hugepages").write_text("3")
    (tmp_path / "free_hugepages").write_text("2")
    monkeypatch.setattr(hugepages, "PAGES", tmp_path)
    monkeypatch.setattr(hugepages, "state_folder", lambda: tmp_path)
    reservation = hugepages.reserve(512)
    assert (reservation.wanted, reservation.free) == (512, 2)
    assert "2 of 512 hugepages" in reservation.reason
    assert (tmp_path / "nr_hugepages").read_text() == "513"
    hugepages.restore()
    assert (tmp_path / "nr_hugepages").read_text() == "3"
