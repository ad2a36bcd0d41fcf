"""Each answer names the servers' congestion control, and says where the systems' differ."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from stackcost.contracts.server import engine_congestion_control
from stackcost.report.results.congestion import SETTING, congestion_control
from stackcost.report.results.opened import OpenedRuns, stored_summary
from stackcost.report.story import of_runs
from stackcost.report.terminal import print_answer
from stackcost.store import Manifest, RunFolder
from tests.report.fixtures import ALL

SMALL = Path(__file__).resolve().parents[1] / "fixtures" / "stored" / "small"
BY_CUBIC = {"sysctls": {"net.ipv4.tcp_congestion_control": "cubic"}}


def manifest(servers: dict[str, Any], test_bed: dict[str, Any] | None = None) -> Manifest:
    read = RunFolder.open(SMALL).manifest()
    return read.model_copy(update={"servers": servers, "test_bed": test_bed or {}})


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ({"a": "cubic", "b": "cubic"}, "cubic"),
        ({"a": "cubic", "b": "NewReno"}, "cubic on a; NewReno on b"),
        ({"n:c,1-B": "c", "n:c,9-B": "c", "p:1-B": "R", "p:9-B": "R"}, "c on n; R on p"),
        ({"n:cubic": "cubic", "n:bbr": "bbr"}, "cubic on n:cubic; bbr on n:bbr"),
    ],
)
def test_systems_and_variants_are_named_where_they_differ(
    stored: dict[str, str], words: str
) -> None:
    servers = {name: {"congestion_control": found} for name, found in stored.items()}
    assert congestion_control(manifest(servers)) == {SETTING: words}


def test_an_older_run_has_that_of_servers_on_the_kernels_tcp() -> None:
    names = ("nginx/kernel:1-B", "astf-peer")
    old = manifest({name: {} for name in names}, dict.fromkeys(names, BY_CUBIC))
    assert congestion_control(old) == {SETTING: "cubic on nginx/kernel"}, "a peer does not use it"


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_every_answer_names_it_on_the_terminal_and_in_the_report(path: Path) -> None:
    run = RunFolder.open(path)
    summary = stored_summary(run)
    summary = summary.model_copy(update={"machine": {**summary.machine, SETTING: "bbr"}})
    printed, opened = StringIO(), OpenedRuns()
    print_answer(summary, Console(file=printed, width=100))
    opened.add(run.manifest(), summary)
    assert "The servers' congestion control: bbr." in printed.getvalue()
    assert "The servers' congestion control: bbr." in of_runs(opened)


def test_a_stored_run_says_what_differs() -> None:
    summary = stored_summary(RunFolder.open(SMALL))
    words = "cubic on nginx/kernel; NewReno on astf-peer"
    summary = summary.model_copy(update={"machine": {**summary.machine, SETTING: words}})
    printed = StringIO()
    print_answer(summary, Console(file=printed, width=100))
    assert f"What differs beside the systems: congestion control, {words}." in printed.getvalue()


def test_the_engine_has_newreno_unless_its_profile_sets_another(tmp_path: Path) -> None:
    profile = tmp_path / "profile.py"
    profile.write_text("info.tcp.mss = 1400\n")
    assert engine_congestion_control(profile) == "NewReno"
    profile.write_text("info.tcp.cc_algo = 1\n")
    assert engine_congestion_control(profile) == "its profile's cc_algo"
