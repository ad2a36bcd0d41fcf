"""Change points of a history, and the command that shows them."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stackcost.cli.entry import app
from stackcost.contracts.errors import StackcostError
from stackcost.gate.figure import CEILING, WHOLE_CORES
from stackcost.gate.history import Entry, append, read_history, trends_of
from tests.gate.simulated import Simulated


def history(path: Path, ceilings: list[float]) -> Path:
    for at, ceiling in enumerate(ceilings):
        place = Simulated(ceiling, seed=at)
        append(
            path,
            Entry(
                values=[place.measure().figures[WHOLE_CORES.name] for _ in range(8)],
                time=f"2026-01-{at + 1:02}T03:00:00+00:00",
                test="test_cps.py::test_front_end",
                experiment="nginx_kernel",
                system="nginx/kernel",
                machine="01234567",
                outcome="holds",
                ratio=1.0,
                commit=f"{at:040x}",
                run="",
            ),
        )
    return path


def test_a_step_is_found_where_it_was_and_nowhere_else(tmp_path: Path) -> None:
    (series,) = trends_of(read_history(history(tmp_path / "h.jsonl", [8000] * 6 + [7600] * 6)))
    assert [len(group.measurements) for group in series.groups] == [6, 6]
    change = series.groups[1].change
    assert change and change.ratio and 0.94 < change.ratio < 0.96
    assert change.low and change.high and change.low < 0.95 < change.high


def test_lines_of_merged_histories_are_taken_by_their_times(tmp_path: Path) -> None:
    path = history(tmp_path / "h.jsonl", [8000] * 6 + [7600] * 6)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[6:] + lines[:6]) + "\n")
    (series,) = trends_of(read_history(path))
    assert [group.measurements[0].name[:10] for group in series.groups] == [
        "2026-01-01",
        "2026-01-07",
    ]
    path.write_text(
        lines[0].replace("+00:00", "+09:00").replace("01-01", "01-02") + "\n" + lines[1]
    )
    assert [each.time[-6:] for each in read_history(path)] == ["+09:00", "+00:00"]
    path.write_text(lines[0].replace("2026-01-01", "yesterday"))
    with pytest.raises(StackcostError, match="line 1 is not a measurement"):
        read_history(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(StackcostError, match="is not UTF-8 text"):
        read_history(path)


def test_the_command_prints_groups_and_draws_them(tmp_path: Path) -> None:
    path, plot = history(tmp_path / "h.jsonl", [8000] * 5 + [7200] * 5), tmp_path / "trend.svg"
    done = CliRunner().invoke(app, ["trend", str(path), "--plot", str(plot)])
    assert done.exit_code == 0, done.output
    assert "2026-01-06T03:00:00" in done.output and re.search(r"-(9|10)\.\d%", done.output)
    assert plot.read_text().count("<svg") == 1


def test_a_ceiling_and_a_rate_for_whole_cores_are_two_series(tmp_path: Path) -> None:
    path = history(tmp_path / "h.jsonl", [8000] * 3)
    entries = read_history(path)
    for entry in entries:
        append(path, entry.model_copy(update={"figure": CEILING.title, "values": [6000.0]}))
    whole, ceiling = trends_of(read_history(path))
    assert (whole.of.figure, ceiling.of.figure) == (WHOLE_CORES.title, CEILING.title)
    assert [len(each.groups) for each in (whole, ceiling)] == [1, 1]
    done = CliRunner().invoke(app, ["trend", str(path)])
    assert "ceiling of nginx/kernel" in " ".join(done.output.split())
    assert done.output.count("measurements  ") == 1, "one table"


def test_a_line_of_an_older_version_is_read(tmp_path: Path) -> None:
    path = history(tmp_path / "h.jsonl", [8000])
    older = json.loads(path.read_text())
    older |= {"cps": older.pop("values"), "cpu_us": [101.5] * 8}
    path.write_text(json.dumps(older) + "\n")
    (entry,) = read_history(path)
    assert entry.values == older["cps"]
