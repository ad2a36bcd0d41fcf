"""Prints the answer of a stored run; in a file or pipe the tables are plain text."""

import textwrap

from rich.console import Console

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.summary import Summary
from stackcost.report import disk_cache, past_ceiling
from stackcost.report.ceiling import print_ceilings
from stackcost.report.counted import counted_systems, counted_tables
from stackcost.report.extra import can_render
from stackcost.report.figure_tables import own_figure_table
from stackcost.report.flags import failed_checks, flag_lines, mostly_disturbed
from stackcost.report.http_figures import series
from stackcost.report.http_tables import clients_table, shared_remark, tests_table
from stackcost.report.http_tls import tls_pairs, tls_table
from stackcost.report.peer_parts import peer_sentences
from stackcost.report.results.computed import summarise_again
from stackcost.report.results.congestion import congestion_sentence
from stackcost.report.results.opened import AnySummary
from stackcost.report.short_tables import (
    short_cost_table,
    short_factor_table,
    short_memory_table,
    unknown_factors,
)
from stackcost.report.story import loads_found
from stackcost.report.studies import STUDIES
from stackcost.report.tables import (
    breakdown_table,
    factor_table,
    generator_table,
    latency_table,
    load_table,
    memory_table,
    owner_table,
)
from stackcost.report.terminal_table import draw
from stackcost.report.text_table import TextTable
from stackcost.report.verdict_notes import verdict_notes
from stackcost.report.why import why_sentences, why_table
from stackcost.store import RunFolder

SHOWN_COUNTS = 12  # categories, and functions, of a counted run
SHOWN_TRIALS = 6  # of each kind; the report lists all


def answer(run: RunFolder, console: Console) -> AnySummary:
    """Write summary.json and report.html into the run's folder, and print the results.

    It needs only the folder, so it works on any stored run, even on one that was cut short.
    StackcostError if it has no trial. Without the extra `notebooks` there is no report.html.
    """
    summary = summarise_again(run)
    print_answer(summary, console)
    if can_render(console):
        from stackcost.report.notebook import render

        render([run.path], run.path / "report.html")
    return summary


def print_answer(summary: AnySummary, console: Console, long: bool = False) -> None:
    """Print tables or sentences on one screen, depending on the run; `long`: every table."""
    if isinstance(summary, Summary):
        print_screen(summary, console)
        if long:
            print_long(summary, console)
    elif isinstance(summary, CeilingSummary):
        print_ceilings(summary, console, long)
    else:
        from stackcost.report.device import print_events

        print_events(summary, console, long)
    if sentence := congestion_sentence(summary):
        console.print(sentence, highlight=False, markup=False, soft_wrap=True)
    for line in summary.damaged:
        console.print(f"damaged: {line}", highlight=False, markup=False)


def print_screen(summary: Summary, console: Console) -> None:
    """Print the results on one screen: factors, costs and flags.

    For HTTP clients it prints the tests in the form of publications. `print_long` prints the rest.
    """
    if busy := mostly_disturbed(summary):
        console.print(busy, style="yellow", highlight=False, markup=False)
    if found := loads_found(summary):
        _print_line(found, console)
    if counted := counted_tables(summary, SHOWN_COUNTS):
        for table in counted:
            _print_table(table, console)
    elif tests := series(summary):
        _print_studies(summary, console)
        for table in (tests_table(tests, summary), tls_table(tls_pairs(summary))):
            _print_table(table, console)
        if past_ceiling.at_rates(summary):
            _print_line(past_ceiling.collapse(summary), console)
        _print_line(shared_remark(summary).replace("**", ""), console)
    else:
        _print_studies(summary, console)
        _print_table(short_factor_table(summary), console)
        notes = why_sentences(summary) + peer_sentences(summary) + verdict_notes(summary)
        for line in notes + unknown_factors(summary.factors):
            _print_line(line, console)
        for table in (
            short_cost_table(summary),
            short_memory_table(summary),
            generator_table(summary),
        ):
            _print_table(table, console)
    _print_table(own_figure_table(summary), console)
    for system, why in summary.reasons.items():
        _print_line(f"not measured: {system}: {why}", console)
    for line in flag_lines(summary):
        style = "yellow" if line[0] == " " else ""
        told = textwrap.fill(line, console.width, subsequent_indent="    ")
        console.print(told, style=style, highlight=False, markup=False)


def _print_studies(summary: Summary, console: Console) -> None:
    for study in STUDIES:
        if study.of(summary):
            _print_line(study.answer(summary).replace("**", ""), console)
            _print_table(study.table(summary), console)


def print_long(summary: Summary, console: Console) -> None:
    """Print every load, every kind of memory and of time, and every flag."""
    for table in (why_table(summary), owner_table(summary)):
        _print_table(table, console)
    if series(summary):
        _print_table(clients_table(summary), console)
        _print_rates_and_disk(summary, console)
    elif not counted_systems(summary):
        for make in (load_table, breakdown_table, latency_table, memory_table):
            _print_table(make(summary), console)
        if any(factor.ratio.median is not None for factor in summary.factors):
            _print_table(factor_table(summary), console)
    _print_trials(summary, console)


def _print_rates_and_disk(summary: Summary, console: Console) -> None:
    """Print latency at rates above the ceiling, and figures of a cold cache, if measured."""
    if past_ceiling.at_rates(summary):
        _print_table(past_ceiling.latency_at_rates(summary), console)
    if disk_cache.is_cache(summary):
        _print_table(disk_cache.cache_table(summary), console)
    elif past_ceiling.at_rates(summary):
        _print_table(past_ceiling.process_memory(summary), console)


def _print_table(text: TextTable, console: Console) -> None:
    """Print a table, or the sentence that says why it is empty."""
    if text.sentence:
        _print_line(text.sentence, console)
    elif text.rows:
        console.print(draw(text))


def _print_line(line: str, console: Console) -> None:
    console.print(line, highlight=False, markup=False)


def _print_trials(summary: Summary, console: Console) -> None:
    """Print every trial that failed in part, then the first failed checks and flagged trials."""
    lost = [
        f"trial {trial.number}, {trial.server}: {'; '.join(trial.failures)}"
        for trial in summary.trials
        if trial.failures
    ]
    failed = [
        f"trial {trial.number}, {trial.server}: {check}"
        for trial in summary.trials
        for check in failed_checks(trial)
    ]
    flagged = [
        f"trial {trial.number}, {trial.server}: {'; '.join(others)}"
        for trial in summary.trials
        if (others := [flag for flag in trial.flags if flag not in trial.failures])
    ]
    for line in (*lost, *failed[:SHOWN_TRIALS], *flagged[:SHOWN_TRIALS]):
        console.print(f"  {line}", style="yellow", highlight=False, markup=False)
    hidden = sum(max(0, len(lines) - SHOWN_TRIALS) for lines in (failed, flagged))
    if hidden:
        _print_line(f"  and {hidden} more; the report lists all", console)
