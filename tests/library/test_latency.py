"""The times of connections: of all trials together, by second, as a map, and as a log."""

from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from typer.testing import CliRunner

import stackcost
from stackcost.cli.entry import app
from stackcost.contracts.counts import Second
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.report.library.export import write_logs
from stackcost.report.plots import as_svg
from stackcost.report.plots.load import latency_over_time
from stackcost.store import RunFolder
from tests.analysis.trials import SUSTAIN, encoded, load_trial
from tests.report.stored import store


def timed(round_number: int, *seconds: dict[int, int]) -> Trial:
    """A trial with these times, and how many connections had them, in each of its seconds."""
    trial = load_trial(number=round_number, round_number=round_number)
    load = trial.load_of(ConstantLoad)
    whole: dict[int, int] = {}
    for at, times in enumerate(seconds):
        start = SUSTAIN.start + at
        load.seconds.append(Second(start, start + 1, {"": {"completion": encoded(times)}}))
        whole = {us: whole.get(us, 0) + times.get(us, 0) for us in (*whole, *times)}
    load.latency = {"": {"completion": encoded(whole)}}
    return trial


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """999 times of 100 us in the first round, 1 of 5,000 us in the second."""
    trials = [timed(1, {100: 500}, {100: 499}), timed(2, {}, {5_000: 1})]
    return store(tmp_path, trials)


def test_percentiles_of_all_rounds_are_of_all_connections(run: RunFolder) -> None:
    found = stackcost.open(run.path).merged_latency(50, 99.9, 100).set_index("percentile")
    assert set(found["timed"]) == {1000}
    assert found["us"].tolist() == pytest.approx([100, 100, 5_000], rel=0.008)
    assert set(found["system"]) == {"nginx/kernel"} and set(found["kind"]) == {"completion"}


def test_every_second_has_its_times(run: RunFolder) -> None:
    found = stackcost.open(run.path).latency_over_time
    assert found[["trial", "seconds", "count"]].values.tolist() == [
        [1, 0, 500],
        [1, 1, 499],
        [2, 1, 1],
    ]
    assert found["us"].tolist() == pytest.approx([100, 100, 5_000], rel=0.008)


def test_the_map_is_drawn_of_these(run: RunFolder) -> None:
    figure = latency_over_time(stackcost.open(run.path).latency_over_time)
    assert figure
    (axes,) = figure.axes
    drawn = sorted((each.get_x(), each.get_y()) for each in axes.patches)  # type: ignore[attr-defined]
    assert [x for x, _ in drawn] == [0, 1, 1] and drawn[1][1] < 100 < 4_000 < drawn[2][1] < 5_000
    assert "100 to 999" in as_svg(figure) and "us to the last byte" in as_svg(figure)
    assert latency_over_time(stackcost.open(run.path).latency_over_time.iloc[:0]) is None


def test_the_log_is_read_back_with_every_connection(run: RunFolder, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["export", str(run.path), "--latency", str(tmp_path / "log")])
    assert result.exit_code == 0, result.output
    (log,) = (tmp_path / "log").iterdir()
    assert log.suffix == ".hlog" and "nginx-kernel" in log.name
    reader = HistogramLogReader(str(log), HdrHistogram(1, 2**32 - 1, 2))
    read = []
    while (interval := reader.get_next_interval_histogram()) is not None:
        read.append(interval)
    reader.close()
    assert [each.get_total_count() for each in read] == [500, 499, 0, 1]
    assert [each.get_start_time_stamp() for each in read] == [0, 1000, 2000, 3000]


def test_a_run_without_seconds_says_what_has_them(tmp_path: Path) -> None:
    run = store(tmp_path)
    with pytest.raises(StackcostError, match="no latency by second"):
        list(write_logs(run, tmp_path / "log"))
    assert not (tmp_path / "log").exists()
    assert stackcost.open(run.path).latency_over_time.empty
