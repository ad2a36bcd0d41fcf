"""The answer on a terminal; in a file or pipe the same tables as plain text."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stackcost.analysis.summary import Summary
from stackcost.report import disk_cache, past_ceiling
from stackcost.report.http import (
    clients_table,
    series,
    shared_remark,
    tests_table,
    tls_pairs,
    tls_table,
)
from stackcost.report.story import loads_found
from stackcost.report.tables import TextTable, cost_table, latency_table, load_table, memory_table
from stackcost.report.words import WITHOUT_SENDING, factor

FACTORS = ("cpu", "memory")  # of one pair of servers; of more the costs are a table
SHOWN_DOUBTS = 6  # of each sort; the report has all


def print_summary(summary: Summary, console: Console) -> None:
    """Cost per connection, memory per flow, the factors, and what there is to distrust.

    Of HTTP clients the tests in the shape of publications instead.
    """
    tests = series(summary)
    if tests:
        _print_table(tests_table(tests, summary), console)
        for table in (tls_table(tls_pairs(summary)), clients_table(summary)):
            if table.rows:
                _print_table(table, console)
        _print_rates_and_disk(summary, console)
        for system, why in summary.not_measured.items():
            console.print(f"not measured: {system}: {why}", highlight=False, markup=False)
        console.print(shared_remark(summary).replace("**", ""), highlight=False, markup=False)
        _print_doubts(summary, console)
        return
    if found := loads_found(summary):
        console.print(found, highlight=False, markup=False)
    _print_table(load_table(summary), console)
    _print_table(latency_table(summary), console)
    memory = memory_table(summary)
    if memory.rows:
        _print_table(memory, console)
    if len(summary.factors) > len(FACTORS):
        _print_table(cost_table(summary), console)
    else:
        _print_factors(summary, console)
    _print_doubts(summary, console)


def _print_rates_and_disk(summary: Summary, console: Console) -> None:
    """What rates past a ceiling do to users, and a cold disk to a cache, where either was asked."""
    if past_ceiling.at_rates(summary):
        _print_table(past_ceiling.latency_at_rates(summary), console)
        console.print(past_ceiling.collapse(summary), highlight=False, markup=False)
    if disk_cache.is_cache(summary):
        _print_table(disk_cache.cache_table(summary), console)
    elif past_ceiling.at_rates(summary):
        _print_table(past_ceiling.process_memory(summary), console)


def _print_factors(summary: Summary, console: Console) -> None:
    for found in summary.factors:
        console.print(
            Text.assemble(
                (f"{found.name} factor", "bold"),
                f" {found.above} : {found.below}, at {found.at}: ",
                (factor(found.ratio), "bold"),
            )
        )
        if found.without_sending.median is not None:
            console.print(Text(f"  {WITHOUT_SENDING}: {factor(found.without_sending)}"))


def _print_table(text: TextTable, console: Console) -> None:
    """A table, or the sentence that says that nothing of it is known."""
    if text.sentence:
        console.print(text.sentence, highlight=False, markup=False)
    else:
        console.print(draw(text))


def draw(text: TextTable) -> Table:
    """A table for the terminal; the first column names the row, and stays in one line."""
    table = Table(title=Text(text.title), title_justify="left")
    for index, column in enumerate(text.columns):
        table.add_column(Text(column), no_wrap=index == 0, overflow="fold")
    for row in text.rows:
        table.add_row(*map(Text, row))
    return table


def _print_doubts(summary: Summary, console: Console) -> None:
    """How many checks hold; the first that fail and the first flagged trials by name."""
    checks = [check for trial in summary.trials for check in trial.checks]
    failed = [
        f"trial {trial.number}, {trial.server}: {check.name}: wanted {check.wanted}, "
        f"seen {check.seen}"
        for trial in summary.trials
        for check in trial.checks
        if check.holds is False
    ]
    flagged = [
        f"trial {trial.number}, {trial.server}: {'; '.join(trial.flags)}"
        for trial in summary.trials
        if trial.flags
    ]
    held = sum(check.holds is True for check in checks)
    unknown = sum(check.holds is None for check in checks)
    console.print(f"checks: {held} hold, {len(failed)} fail, {unknown} not possible")
    for line in (*failed[:SHOWN_DOUBTS], *flagged[:SHOWN_DOUBTS]):
        console.print(f"  {line}", style="yellow", highlight=False, markup=False)
    hidden = sum(max(0, len(lines) - SHOWN_DOUBTS) for lines in (failed, flagged))
    if hidden:
        console.print(f"  and {hidden} more, which the report lists")
    if summary.state == "interrupted":
        console.print("this run was interrupted: the figures are of what was measured until then")
