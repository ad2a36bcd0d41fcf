"""Energy by the processors' own counters, from a folder as the kernel shows it."""

from pathlib import Path

import pytest

from stackcost.collect.energy import Energy
from stackcost.contracts.errors import StackcostError


def package(folder: Path, number: int, microjoules: int) -> None:
    for name in (f"intel-rapl:{number}", f"intel-rapl:{number}:0"):  # the second is a part of it
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "energy_uj").write_text(f"{microjoules}\n")
        (folder / name / "max_energy_range_uj").write_text("5000000\n")


def test_each_package_is_read_once_and_goes_on_where_its_counter_began_again(
    tmp_path: Path,
) -> None:
    energy = Energy(tmp_path)
    found = []
    for read in (4_000_000, 1_000_000):
        package(tmp_path, 0, read)
        package(tmp_path, 1, 7_000_000)
        found.append({s.labels["package"]: s.value for s in energy.read()})
    assert found == [
        {"intel-rapl:0": 4.0, "intel-rapl:1": 7.0},
        {"intel-rapl:0": 6.0, "intel-rapl:1": 7.0},
    ]


def test_a_machine_without_them_says_so(tmp_path: Path) -> None:
    with pytest.raises(StackcostError, match="there is no intel-rapl"):
        Energy(tmp_path).read()
