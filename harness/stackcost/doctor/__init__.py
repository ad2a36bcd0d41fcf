"""Checks what this machine can and cannot do for the suite, and how to fix it."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stackcost.collect.kernel import configuration
from stackcost.doctor import kernel, machine, programs
from stackcost.doctor.check import HostCheck, State

COLOURS = {State.OK: "green", State.LIMITED: "yellow", State.MISSING: "red"}


def checks() -> list[HostCheck]:
    """Run all checks. It takes a few seconds and changes nothing."""
    config = configuration() or {}
    return [
        kernel.check_root(),
        kernel.check_version(),
        kernel.check_namespaces(),
        kernel.check_af_xdp(),
        kernel.check_io_uring(),
        kernel.check_steering(config),
        machine.check_cores(),
        machine.check_isolation(),
        machine.check_governor(),
        machine.check_memory(),
        machine.check_hugepages(),
        machine.check_network_cards(),
        kernel.check_cpu_accounting(config),
        kernel.check_type_information(),
        kernel.check_exact_cpu_time(),
        kernel.check_perf_counters(),
        kernel.check_modules(config),
        programs.check_engine(),
        programs.check_trex(),
        programs.check_trex_client(),
        programs.check_nginx(),
        programs.check_tools(),
        programs.check_reports(),
        programs.check_onload(),
    ]


def table(found: list[HostCheck]) -> Table:
    """The checks as a table. Meaning and hint are below each finding."""
    result = Table(title="stackcost doctor", title_justify="left", show_lines=False)
    result.add_column("check", no_wrap=True)
    result.add_column("state", no_wrap=True)
    result.add_column("finding, meaning, hint", overflow="fold")
    for check in found:
        lines = [escape(check.found)]
        if check.meaning:
            lines.append(f"[dim]means:[/dim] {escape(check.meaning)}")
        if check.hint:
            lines.append(f"[dim]hint:[/dim] {escape(check.hint)}")
        colour = COLOURS[check.state]
        result.add_row(check.name, f"[{colour}]{check.state}[/{colour}]", "\n".join(lines))
    return result


def main() -> int:
    """Print the table and the verdict; 1 when the main comparison cannot run here, else 0."""
    found = checks()
    console = Console()
    console.print(table(found))
    lacking = [check.name for check in found if check.needed and check.state is State.MISSING]
    if lacking:
        console.print(
            f"The main comparison cannot run on this machine. Fix first: {', '.join(lacking)}."
        )
        return 1
    console.print("The main comparison can run on this machine: stackcost run compare")
    return 0
