"""Figures are declared once: for every kind of load each has its four words and its rows."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from stackcost.analysis.figures import registry
from stackcost.analysis.figures.figure import Figure, Values
from stackcost.analysis.figures.groups import Loads
from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import summarise
from stackcost.analysis.summary import Summary
from stackcost.analysis.system_figures import definition, system_figures
from stackcost.contracts.collector import CollectedFigure
from stackcost.frames import load_rows
from stackcost.report import export
from tests.analysis.http_trials import asked, cached, summary
from tests.analysis.runs import CONTEXT, compared
from tests.analysis.test_generators import of_two
from tests.analysis.trials import counter, hold_trial, load_trial

SWITCHES = CollectedFigure(
    name="switches",
    unit="1",
    definition="context switches per connection",
    source="/proc/PID/status",
    metric="status.switches",
    by="why",
)


def onload() -> Summary:
    trial = load_trial()
    for name in ("k_polls", "u_polls", "rx_evs", "tx_evs"):
        trial.samples += counter("onload.counter", 100, {"stack": "1", "counter": name})
    return summarise([trial], CONTEXT)


def waiting() -> Summary:
    """Flows in TIME_WAIT beside established ones."""
    trials = [hold_trial(count, {"slab.bytes": 300.0}, number=count) for count in (0, 2000)]
    for trial in trials:
        trial.traffic.state = "time-wait"  # type: ignore[union-attr]
    return summarise([*compared(), *trials], CONTEXT)


KINDS: dict[str, Callable[[], Summary]] = {
    "profiles": lambda: summarise(compared(), CONTEXT),
    "several generators": lambda: summarise([of_two((1000, 3000), (2.0, 4.0))], CONTEXT),
    "Onload": onload,
    "HTTP clients": lambda: summary(asked("wrk", 50, "mix", 0, 1000)),
    "cache": lambda: summary(cached()),
    "held in TIME_WAIT": waiting,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_has_definition_unit_source_and_row(kind: str) -> None:
    made = KINDS[kind]()
    found = system_figures(made)
    exported = set(export.table(made)["figure"])
    of_loads = {row["figure"] for row in load_rows.loads(made)}
    assert found
    for figure in found:
        what = definition(figure.name, made.definitions)
        assert what and what.definition and what.source, figure.name
        assert what.unit == figure.spread.unit, figure.name
        assert figure.name in exported, figure.name
        name = figure.name.rpartition(": ")[2]
        assert (name in of_loads) == (figure.at is not None and registry.in_loads(name)), name


def test_flows_in_other_states_are_compared_and_exported_too() -> None:
    names = [each.name for each in system_figures(waiting())]
    assert "time-wait: memory.total" in names and "memory.total" in names


@pytest.mark.parametrize("word", ["name", "unit", "definition", "source"])
def test_a_figure_without_one_of_its_words_cannot_be_made(word: str) -> None:
    words = {"name": "mine", "unit": "1", "definition": "of mine", "source": "/proc/mine"}
    Figure[Loads](**words, of="load", compute=lambda loads: None)
    with pytest.raises(ValueError, match=f"has no {word}"):
        Figure[Loads](**words | {word: ""}, of="load", compute=lambda loads: None)


def test_no_two_figures_have_one_name() -> None:
    names = [each.name for each in registry.ALL]
    assert len(names) == len(set(names))


def test_a_figure_that_applies_has_its_value_with_unit_and_rounds() -> None:
    loads = Loads([Readings(load_trial(round_number=7))], CONTEXT)
    figure = Figure[Loads](
        name="mine",
        unit="B",
        definition="five",
        source="made",
        of="load",
        compute=lambda found: Values([5.0], found.rounds),
    )
    (spread,) = figure.spreads(loads).values()
    assert (spread.values, spread.unit, spread.rounds) == ([5.0], "B", [7])


def test_a_collectors_figure_is_per_connection_and_by_its_label() -> None:
    trial = load_trial()
    for why, count in (("voluntary", 20_000), ("nonvoluntary", 5_000)):
        trial.samples += counter("status.switches", count, {"role": "worker-0", "why": why})
    made = summarise([trial], replace(CONTEXT, figures=(SWITCHES,)))
    (level,) = made.servers[0].levels
    completed = level["completed_cps"].median
    assert completed
    ratio = level["switches.voluntary"].median
    other = level["switches.nonvoluntary"].median
    assert ratio and other and ratio == pytest.approx(4 * other)
    assert made.definitions["switches"].own and not made.definitions["packets"].own


def test_a_collectors_figure_that_was_not_read_is_unknown_with_the_reason() -> None:
    whole = SWITCHES.model_copy(update={"by": ""})
    made = summarise([load_trial()], replace(CONTEXT, figures=(whole,)))
    (level,) = made.servers[0].levels
    assert level["switches"].median is None
    assert level["switches"].reason == "no sample of status.switches was read in the sustain window"
