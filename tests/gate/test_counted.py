"""The gate that counts: what it judges, what it names, and which systems it has."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from stackcost.contracts.errors import StackcostError
from stackcost.gate import counted
from stackcost.gate.counted import Cost, CountedGate, judged

REPOSITORY = Path(__file__).resolve().parents[2]
BEFORE = Cost(100_000, {"tcp_ack": 1275, "nf_hook_slow": 100, "gone": 50}, "6.1.0-56", "nginx abc")
RULE = replace(
    BEFORE,
    instructions=101_500,
    functions={"tcp_ack": 1275, "nf_hook_slow": 400, "nft_do_chain": 1250},
)


def result(now: Cost, tolerance: float = 0.01) -> tuple[str, str]:
    found = judged("nginx/kernel", now, BEFORE, tolerance, Path())
    return found.outcome, found.text


def test_the_same_cost_holds() -> None:
    assert result(BEFORE)[0] == "holds"
    assert result(replace(BEFORE, instructions=101_000))[0] == "holds"


def test_one_and_a_half_percent_more_is_above() -> None:
    outcome, text = result(RULE)
    assert outcome == "above"
    assert "101,500 instructions per connection, baseline 100,000 (+1.50%" in text


def test_a_failure_names_what_grew_most_first_and_nothing_else() -> None:
    _, text = result(RULE)
    assert text.index("+1,250  nft_do_chain") < text.index("+300  nf_hook_slow")
    assert "tcp_ack" not in text and "gone" not in text
    assert "-50  all others, less what fell" in text, "the lines add up to the 1,500 more"


def test_another_kernel_or_server_is_told() -> None:
    _, text = result(replace(RULE, kernel="6.12.117", server="nginx def"))
    assert "other kernel: 6.12.117; of the baseline 6.1.0-56" in text
    assert "other server: nginx def; of the baseline nginx abc" in text


def gate(
    folder: Path, file: str, system: str = "", say: Callable[[str], None] = print
) -> CountedGate:
    place = REPOSITORY / "experiments" / file
    return CountedGate(place, system, folder / "stackcost-gate", folder / "results", [], say)


def test_what_a_count_does_is_said_while_it_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*given: object) -> None:
        console = given[-1]
        assert isinstance(console, Console)
        console.print("[   3 s] booting the guest ", "with a long name" * 12, markup=False)
        console.print("")
        raise StackcostError("stopped here")

    monkeypatch.setattr(counted, "run_experiment", run)
    said: list[str] = []
    with pytest.raises(StackcostError, match="stopped here"):
        gate(tmp_path, "nginx_kernel.yaml", say=said.append).write_baseline()
    assert said[0].startswith("[   3 s] booting the guest") and "" not in said


def test_without_a_baseline_nothing_is_counted(tmp_path: Path) -> None:
    found = gate(tmp_path, "nginx_kernel.yaml").not_above_baseline(0.01)
    assert found.outcome == "no baseline"
    assert "nginx_kernel-nginx-kernel-counted@6.1.json" in found.sentence
    assert "--stackcost-update-baseline" in found.sentence
    assert not list(tmp_path.iterdir())


def test_of_several_systems_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(StackcostError, match="nginx/kernel, astf-peer"):
        gate(tmp_path, "compare.yaml")
    gate(tmp_path, "compare.yaml", "nginx/kernel")
