"""The gate that counts: what it judges, what it names, and which systems it has."""

import shutil
from pathlib import Path

import pytest
from rich.console import Console

from stackcost.contracts.errors import StackcostError
from stackcost.gate.figure import COST
from stackcost.gate.gate import Gate, GateResult
from stackcost.gate.measure import LINE_WIDTH, Lines, target_of
from tests.gate.simulated import COUNTS, Simulated

REPOSITORY = Path(__file__).resolve().parents[2]
BEFORE = COUNTS | {"gone": 50.0}  # 100,050 in all
RULE = COUNTS | {"nf_hook_slow": 400.0, "nft_do_chain": 1250.0}


def gate(folder: Path, file: str = "nginx_kernel.yaml", **settings: object) -> Gate:
    machine = Simulated(place=str(folder / "run"), **settings)  # type: ignore[arg-type]
    return Gate(
        experiment=Path(file).stem,
        target=target_of(REPOSITORY / "experiments" / file, "nginx/kernel", counted=True),
        figure=COST,
        machine=machine,
        folder=folder / "stackcost-gate",
        checkpoints=COST.checkpoints,
        test="test",
        say=print,
    )


def result(folder: Path, tolerance: float = 0.01, **now: object) -> GateResult:
    """Of a gate whose baseline is BEFORE."""
    gate(folder, counts=BEFORE).write_baseline()
    return gate(folder, **now).against_baseline(tolerance)


def test_the_same_cost_holds(tmp_path: Path) -> None:
    assert result(tmp_path, counts=BEFORE).outcome == "holds"
    assert result(tmp_path, counts=BEFORE | {"tcp_ack": 2275.0}).outcome == "holds"


def test_one_and_a_half_percent_more_is_above(tmp_path: Path) -> None:
    found = result(tmp_path, counts=RULE)
    assert found.outcome == "above"
    said = "101,550 instructions per connection, +1.50% against 100,050 (baseline), tolerance 1.0%"
    assert said in found.text


def test_what_two_counts_of_one_system_differ_by_is_never_above(tmp_path: Path) -> None:
    """Without a tolerance, too: `diff` says the same of such counts."""
    slightly, more = (BEFORE | {"tcp_ack": 1275.0 + more} for more in (150, 300))
    assert result(tmp_path, 0.0, counts=slightly).outcome == "holds"
    assert result(tmp_path, 0.0, counts=more).outcome == "above"


def test_a_failure_names_what_grew_most_first_and_nothing_else(tmp_path: Path) -> None:
    text = result(tmp_path, counts=RULE).text
    assert text.index("+1,250  nft_do_chain") < text.index("+300  nf_hook_slow")
    assert "tcp_ack" not in text and "gone" not in text
    assert "-50  all others, less what fell" in text, "the lines add up to the 1,500 more"


def test_another_kernel_or_server_is_told(tmp_path: Path) -> None:
    text = result(tmp_path, counts=RULE, kernel="6.1.0-99", program="nginx b").text
    assert "guest.kernel: 6.1.0-56 -> 6.1.0-99" in text
    assert "guest.program: nginx a -> nginx b" in text


def test_keys_of_the_experiment_that_changed_are_told(tmp_path: Path) -> None:
    gate(tmp_path, counts=BEFORE).write_baseline()
    clone = tmp_path / "another clone"
    shutil.copytree(REPOSITORY / "trex_profiles", clone / "trex_profiles")
    (clone / "experiments").mkdir()
    changed = clone / "experiments" / "nginx_kernel.yaml"
    text = (REPOSITORY / "experiments" / "nginx_kernel.yaml").read_text()
    changed.write_text(text.replace("bytes: 2000", "bytes: 1000"))
    text = gate(tmp_path, str(changed), counts=RULE).against_baseline(0.01).text
    lines = text.partition("Differences from the baseline")[2].splitlines()
    assert [line.strip() for line in lines if "experiment." in line or "profiles" in line] == [
        "experiment.workload.response_bytes: 2000 -> 1000"
    ], "another checkout is no difference"


def test_what_a_count_does_is_said_while_it_lasts() -> None:
    said: list[str] = []
    console = Console(file=Lines(said.append), width=LINE_WIDTH)
    console.print("[   3 s] booting the guest ", "with a long name" * 12, markup=False)
    console.print("")
    assert said[0].startswith("[   3 s] booting the guest") and "" not in said


def test_without_a_baseline_nothing_is_counted(tmp_path: Path) -> None:
    found = gate(tmp_path).against_baseline(0.01)
    assert found.outcome == "no baseline"
    assert "nginx_kernel-nginx-kernel-counted@6.1.json" in found.sentence
    assert "--stackcost-update-baseline" in found.sentence
    assert not list(tmp_path.iterdir())


def test_of_several_systems_one_is_named() -> None:
    with pytest.raises(StackcostError, match="nginx/kernel, astf-peer"):
        target_of(REPOSITORY / "experiments" / "compare.yaml", counted=True)
    target_of(REPOSITORY / "experiments" / "compare.yaml", "nginx/kernel", counted=True)
