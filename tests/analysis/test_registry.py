"""Figures are declared once: for every kind of load each has its four words and its rows."""

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest

from stackcost.analysis.ceiling.controller import search
from stackcost.analysis.ceiling.settings import settings_for
from stackcost.analysis.ceiling.summarise import summarise_ceilings
from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.comparing.system_series import figures_of, questions
from stackcost.analysis.device.event_summary import EventSummary, summarise_events
from stackcost.analysis.figures import registry
from stackcost.analysis.figures.figure import Figure, Of, Values
from stackcost.analysis.figures.groups import LoadTrials
from stackcost.analysis.head import Head, definition
from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import summarise
from stackcost.analysis.summary import Summary
from stackcost.contracts.collector import CollectedFigure
from stackcost.contracts.counts import FramesPassed
from stackcost.report.library import export
from tests.analysis.http_trials import asked, cached, summary
from tests.analysis.runs import CONTEXT, compared
from tests.analysis.test_generators import of_two
from tests.analysis.trials import counter, hold_trial, load_trial
from tests.device.event_trials import PLAN, event_trial, mixed
from tests.search.simulated import Simulated, plan_of

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
    for name in ("k_polls", "u_polls", "rx_evs", "tx_evs", "ul_accepts", "sockcache_hit"):
        trial.samples += counter("onload.counter", 100, {"stack": "1", "counter": name})
    return summarise([trial], CONTEXT)


def waiting() -> Summary:
    """Flows in TIME_WAIT beside established ones."""
    trials = [hold_trial(count, {"slab.bytes": 300.0}, number=count) for count in (0, 2000)]
    for trial in trials:
        trial.traffic.state = "time-wait"  # type: ignore[union-attr]
    return summarise([*compared(), *trials], CONTEXT)


def device() -> Summary:
    trial = load_trial()
    trial.traffic.frames = {
        "to servers": FramesPassed(20_000, 20_000, 8_323, 8_323),
        "to clients": FramesPassed(20_000, None, None, 20_000),
    }
    trial.samples += counter("conntrack.events", 12, {"namespace": "server", "event": "drop"})
    return summarise([trial], CONTEXT)


def gate() -> Summary:
    return summarise([load_trial()], replace(CONTEXT, of_gate=True))


def searches() -> CeilingSummary:
    """Two for connections, with a reference peer after the first; one for flows."""
    found = CeilingSummary(
        run="a run", title="", state="complete", machine={}, found={}, ceilings=[], repeated=[]
    )
    for of, ceilings in (("connections", (7_400, 7_300)), ("flows", (19_800,))):
        settings, trials = settings_for(of), []
        for number, ceiling in enumerate(ceilings, 1):
            system = Simulated(ceiling, seed=number, of=of)
            search(settings, system.measure)
            for trial in system.trials:
                trial.round = number
            trials += system.trials
        own = summarise_ceilings(trials, "a run", plan_of(settings, of), "complete", {})
        name = f"{of} system"
        found.found[name] = next(iter(own.found.values()))
        found.definitions.update(own.definitions)
    return found


def happened() -> EventSummary:
    return summarise_events(
        [event_trial(4.0, 11.0), mixed({100.0: 1.0, 200.0: 0.5, 50.0: 1.0})],
        "a run",
        PLAN,
        "complete",
        {},
    )


KINDS: dict[str, Callable[[], Head]] = {
    "profiles": lambda: summarise(compared(), CONTEXT),
    "several generators": lambda: summarise([of_two((1000, 3000), (2.0, 4.0))], CONTEXT),
    "Onload": onload,
    "HTTP clients": lambda: summary(asked("wrk", 50, "mix", 0, 1000)),
    "cache": lambda: summary(cached()),
    "held in TIME_WAIT": waiting,
    "device under load": device,
    "gate": gate,
    "ceilings": searches,
    "events and mixed traffic": happened,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_has_definition_unit_source_and_row(kind: str) -> None:
    made = KINDS[kind]()
    found = list(made.system_figures())
    table = export.table(made)
    rows = set(zip(table["system"], table["case"], table["figure"], strict=True))
    assert found
    for figure in found:
        what = definition(figure.name, made.definitions)
        assert what and what.definition and what.source, figure.name
        assert what.unit == figure.spread.unit, figure.name
        assert (figure.system, figure.case, figure.figure) in rows, figure.name
        assert figure.spread.values or figure.spread.reason, figure.name


def test_these_runs_have_figures_of_everything_but_pairs() -> None:
    names = {each.name for make in KINDS.values() for each in make().system_figures()}
    bare = [f"{name.rpartition(': ')[2]}." for name in names]
    made = {each.of for each in registry.ALL if any(n.startswith(f"{each.name}.") for n in bare)}
    assert made == set(get_args(Of)) - {"pair", "trial"}


@pytest.mark.parametrize("kind", ["ceilings", "events and mixed traffic", "device under load"])
def test_every_kind_of_run_can_be_compared(kind: str) -> None:
    made = KINDS[kind]()
    (system, *_) = made.systems
    own = figures_of(made, system)
    asked = questions(own, own)
    assert {each.figure for each in asked} == {name for name, _ in own.figures}
    assert any(each.judged for each in asked) and all(each.at for each in asked)


def test_flows_in_other_states_are_compared_and_exported_too() -> None:
    names = [each.name for each in waiting().system_figures()]
    assert "time-wait: memory.total" in names and "memory.total" in names


@pytest.mark.parametrize("word", ["name", "unit", "definition", "source"])
def test_a_figure_without_one_of_its_words_cannot_be_made(word: str) -> None:
    words = {"name": "mine", "unit": "1", "definition": "of mine", "source": "/proc/mine"}
    Figure[LoadTrials](**words, of="load", compute=lambda loads: None)
    with pytest.raises(ValueError, match=f"has no {word}"):
        Figure[LoadTrials](**words | {word: ""}, of="load", compute=lambda loads: None)


def test_no_two_figures_have_one_name() -> None:
    names = [each.name for each in registry.ALL]
    assert len(names) == len(set(names))


def test_a_figure_that_applies_has_its_value_with_unit_and_rounds() -> None:
    loads = LoadTrials([Readings(load_trial(round_number=7))], CONTEXT)
    figure = Figure[LoadTrials](
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
