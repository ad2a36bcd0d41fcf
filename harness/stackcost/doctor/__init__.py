"""Checks what this machine can and cannot do for the suite, and how to fix it."""

import os

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
        HostCheck("root", kernel.check_root(), needed=True),
        HostCheck("kernel", kernel.check_version()),
        HostCheck("namespaces and veth", kernel.check_namespaces(), needed=True),
        HostCheck("AF_XDP", kernel.check_af_xdp()),
        HostCheck("io_uring", kernel.check_io_uring()),
        HostCheck("receive steering", kernel.check_steering(config), needed=True),
        HostCheck("cores", machine.check_cores(), needed=True),
        HostCheck("isolated cores", machine.check_isolation()),
        HostCheck("frequency governor", machine.check_governor()),
        HostCheck("memory", machine.check_memory()),
        HostCheck("hugepages", machine.check_hugepages()),
        HostCheck("network cards", machine.check_network_cards()),
        HostCheck("/proc/stat", kernel.check_cpu_accounting(config)),
        HostCheck("BTF", kernel.check_type_information()),
        HostCheck("exact CPU time", kernel.check_exact_cpu_time()),
        HostCheck("hardware counters", kernel.check_perf_counters()),
        HostCheck("loadable modules", kernel.check_modules(config)),
        HostCheck("astf-engine", programs.check_engine(), needed="TREX_HOME" not in os.environ),
        HostCheck("TREX_HOME", programs.check_trex(), needed=True),
        HostCheck("lbr-trex-client", programs.check_trex_client(), needed=True),
        HostCheck("nginx", programs.check_nginx(), needed=True),
        HostCheck("tools", programs.check_tools()),
        HostCheck("reports", programs.check_reports()),
        HostCheck("Onload", programs.check_onload()),
    ]


def table(found: list[HostCheck]) -> Table:
    """The checks as a table. Meaning and hint are below each finding."""
    result = Table(title="stackcost doctor", title_justify="left", show_lines=False)
    result.add_column("check", no_wrap=True)
    result.add_column("state", no_wrap=True)
    result.add_column("finding, meaning, hint", overflow="fold")
    for check in found:
        state, told, meaning, hint = check.finding
        lines = [escape(told)]
        if meaning:
            lines.append(f"[dim]means:[/dim] {escape(meaning)}")
        if hint:
            lines.append(f"[dim]hint:[/dim] {escape(hint)}")
        colour = COLOURS[state]
        result.add_row(check.name, f"[{colour}]{state}[/{colour}]", "\n".join(lines))
    return result


def main() -> int:
    """Print the table and the verdict; 1 when the main comparison cannot run here, else 0."""
    found = checks()
    console = Console()
    console.print(table(found))
    lacking = [
        check.name for check in found if check.needed and check.finding.state is State.MISSING
    ]
    if lacking:
        console.print(
            f"The main comparison cannot run on this machine. Fix first: {', '.join(lacking)}."
        )
        return 1
    console.print("The main comparison can run on this machine: stackcost run compare")
    return 0
