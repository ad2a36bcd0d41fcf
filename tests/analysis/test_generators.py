"""The parts of several generators: told at each load, and flagged where one did not do its own."""

import dataclasses

from stackcost.analysis.cost import generators
from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import summarise
from stackcost.analysis.trial.flags import flags_of
from stackcost.contracts.counts import GeneratorShare, Schedule
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.store.trial_lines import decode, encode
from tests.analysis.runs import CONTEXT
from tests.analysis.trials import counter, load_trial


def of_two(opened: tuple[int, int], busy_s: tuple[float, float] = (4.0, 4.0)) -> Trial:
    """A load trial of two generators with equal parts; each has a core and 10 s of time."""
    trial = load_trial()
    assert isinstance(trial.load, ConstantLoad)
    kept = [each for each in trial.samples if each.labels.get("engine") != "generator"]
    client = [each for each in trial.samples if each.labels.get("side") == "client"]
    trial.samples = kept + client
    for at, (count, busy) in enumerate(zip(opened, busy_s, strict=True)):
        name = f"generator-{at + 1}"
        labels = {"engine": "generator", "core": str(at), "cpu": "0", "generator": name}
        trial.samples += counter("engine.busy_time", busy, labels)
        trial.samples += counter("engine.time", 10.0, labels)
        share = GeneratorShare(
            name,
            0.5,
            f"16.0.0.{at}-16.0.0.{at}",
            0.001 * at,
            {"tcps_connattempt": count},
            Schedule(count, count, count // 100, 0),
        )
        trial.load.generators.append(share)
    return trial


def told(trial: Trial) -> list[str]:
    return [flag for flag in flags_of(Readings(trial, (1,))) if flag.startswith("generator-")]


def test_the_part_of_each_is_stored_and_shown() -> None:
    trial = decode(encode(of_two((1000, 3000))))
    trial.samples = of_two((1000, 3000), (2.0, 4.0)).samples
    (level,) = summarise([trial], CONTEXT).servers[0].levels
    assert [*level.generators] == ["generator-1", "generator-2"]
    assert level.generators["generator-1"].part == 0.5
    assert level["generators.opened.generator-1"].median == 0.25
    assert level["generators.late.generator-2"].median == 0.01
    assert level["generators.started.generator-2"].median == 0.001
    assert [each.median for each in level.kinds("generators.busy").values()] == [0.2, 0.4]


def test_one_that_is_busy_is_named_though_the_other_is_idle() -> None:
    assert told(of_two((1000, 1000))) == []
    assert told(of_two((1000, 1000), (9.0, 1.0))) == ["generator-1 90% busy, above 80%"]


def test_one_that_opened_another_part_than_planned_is_named() -> None:
    assert told(of_two((990, 1010))) == []
    first, second = told(of_two((900, 1100)))
    assert first == "generator-1 opened 45.0% of the connections, its part is 50.0%"
    assert second.startswith("generator-2 opened 55.0%")


def test_a_single_generator_and_older_trials_have_no_parts() -> None:
    trial = load_trial()
    line = encode(trial)
    older = line.replace(b', "generators": []', b"")
    assert older != line and decode(older) == dataclasses.replace(decode(line))
    (level,) = summarise([trial], CONTEXT).servers[0].levels
    assert not level.generators and not level.kinds("generators")
    assert list(generators.busy_shares(Readings(trial))) == [""]
