"""Figures of a guest are marked, and those of an emulated one are no cost."""

from dataclasses import replace
from pathlib import Path

import pytest

from stackcost.analysis.cost import cpu
from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import summarise
from stackcost.analysis.trial.flags import disturbances, flags_of
from stackcost.collect.guest import Guest
from stackcost.contracts.counts import Schedule
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.runs.campaign import Repeats
from stackcost.runs.turn import Purpose
from tests.analysis.runs import CONTEXT, compared
from tests.analysis.trials import add_other_program, gauge, load_trial


def made_by(by: str, trial: Trial) -> Trial:
    trial.samples += gauge("machine.guest", [float(bool(by))] * 5, {"by": by})
    return trial


def test_a_machine_says_what_it_is(tmp_path: Path) -> None:
    processors, product = tmp_path / "cpuinfo", tmp_path / "product_name"

    def by(model: str, name: str | None) -> tuple[float | None, str]:
        processors.write_text(f"processor\t: 0\nmodel name\t: {model}\n")
        product.unlink(missing_ok=True)
        if name is not None:
            product.write_text(f"{name}\n")
        (sample,) = Guest(processors, product).read()
        return sample.value, sample.labels["by"]

    assert by("QEMU TCG CPU version 2.5+", "Standard PC (Q35 + ICH9, 2009)") == (1, "emulation")
    assert by("Intel(R) Xeon(R)", "stackcost guest") == (1, "KVM")
    assert by("Intel(R) Xeon(R)", "PowerEdge") == (0, "")
    assert by("Intel(R) Xeon(R)", None) == (0, "")


def test_an_emulated_trial_is_not_judged_by_noise_and_not_repeated() -> None:
    disturbed = load_trial()
    add_other_program(disturbed, 0.5)
    assert disturbances(Readings(disturbed, [1]))
    once = Purpose(repeats=1)
    assert Repeats().wanted([disturbed], once, [1])
    made_by("emulation", disturbed)
    assert not disturbances(Readings(disturbed, [1])), "its cores are programs among others"
    late = made_by("emulation", load_trial())
    assert isinstance(late.load, ConstantLoad)
    late.load.schedule = Schedule(intended=100, opened=100, late=60, unsent=0)
    assert disturbances(Readings(late, [1])), "of the generator, which is not emulated"
    assert not Repeats().wanted([late], once, [1])


def test_a_guest_on_kvm_keeps_its_cost_and_is_marked() -> None:
    seen = Readings(made_by("KVM", load_trial()), (1,))
    assert cpu.server_total(seen) == pytest.approx(100)
    assert "measured in a guest on KVM" in flags_of(seen)
    assert flags_of(Readings(made_by("", load_trial()), [1])) == []


def test_no_table_has_a_cost_of_an_emulated_server_and_no_factor_is_made_of_it() -> None:
    trials = compared()
    for trial in trials:
        if trial.server == "nginx/kernel":
            made_by("emulation", trial)
    summary = summarise(trials, replace(CONTEXT))
    nginx, peer = summary.servers
    for level in nginx.levels:
        by_kind = map(level.kinds, ("server_cpu", "softirq", "threads", "generator_cpu"))
        figures = [level["server_cpu_total"], *(s for kinds in by_kind for s in kinds.values())]
        assert all(each.median is None and "emulated" in each.reason for each in figures)
        assert level["completed_cps"].median, "what was counted stays"
    assert all(level["server_cpu_total"].median for level in peer.levels)
    factor = next(each for each in summary.factors if each.name == "cpu")
    assert factor.ratio.median is None and "emulated" in factor.ratio.reason
    assert all(
        any("emulated" in flag for flag in row.flags) == (row.server == "nginx/kernel")
        for row in summary.trials
    )
