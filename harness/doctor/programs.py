"""Programs that the suite starts or could start."""

import importlib.metadata
import os
import subprocess
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.harness.doctor.check import HostCheck, State
from stackcost.host.debian import FILES, LIBRARIES, PROGRAMS, install_command
from stackcost.host.namespace import find_program
from stackcost.report import extra as reports
from stackcost.servers.nginx_kernel.configuration import find_build
from stackcost.stacks.onload import Installation
from stackcost.trex.generator import engine_path, trex_home


def check_engine() -> HostCheck:
    """The engine, and the libraries that it asks for; with TREX_HOME set nothing needs it."""
    needed = "TREX_HOME" not in os.environ
    try:
        path = engine_path()
    except StackcostError as error:
        return HostCheck(
            "astf-engine", State.MISSING, error.what, "no load", error.hint, needed=needed
        )
    absent = missing_libraries(path)
    if not absent:
        return HostCheck("astf-engine", State.OK, str(path), needed=needed)
    return HostCheck(
        "astf-engine",
        State.MISSING,
        f"{path} does not find {', '.join(absent)}",
        "no load",
        install_command(LIBRARIES[name] for name in absent if name in LIBRARIES),
        needed=needed,
    )


def missing_libraries(program: Path) -> list[str]:
    """Shared libraries that a program asks for and the loader does not find."""
    done = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    lines = [line.partition("=>") for line in done.stdout.splitlines()]
    return [name.strip() for name, _, found in lines if found.strip() == "not found"]


def check_trex() -> HostCheck:
    """TRex itself, which takes the engine's place when it is named."""
    try:
        home = trex_home()
    except StackcostError as error:
        return HostCheck("TREX_HOME", State.MISSING, error.what, "no load", error.hint, needed=True)
    return HostCheck("TREX_HOME", State.OK, str(home) if home else "not set: astf-engine is used")


def check_trex_client() -> HostCheck:
    """TRex's own client, which drives either."""
    try:
        version = importlib.metadata.version("lbr-trex-client")
    except importlib.metadata.PackageNotFoundError:
        return HostCheck(
            "lbr-trex-client",
            State.MISSING,
            "not installed",
            "no load",
            "pip install lbr-trex-client",
            needed=True,
        )
    return HostCheck("lbr-trex-client", State.OK, version, needed=True)


def check_nginx() -> HostCheck:
    """The nginx installed, and whether it can count requests."""
    try:
        build = find_build()
    except StackcostError as error:
        return HostCheck(
            "nginx", State.MISSING, error.what, "no nginx row", error.hint, needed=True
        )
    return HostCheck("nginx", State.OK, build.version, needed=True)


def check_tools() -> HostCheck:
    """Programs and headers that the test bed and systems under test use."""
    absent = {}
    for name, package in PROGRAMS.items():
        try:
            find_program(name)
        except StackcostError:
            absent[name] = package
    absent |= {path: package for path, package in FILES.items() if not Path(path).exists()}
    if not absent:
        return HostCheck("tools", State.OK, ", ".join(PROGRAMS))
    return HostCheck(
        "tools",
        State.MISSING,
        f"without {', '.join(absent)}",
        "parts will fail",
        install_command(absent.values()),
    )


def check_reports() -> HostCheck:
    """What renders a report and opens notebooks, which measuring does not need."""
    absent = reports.missing()
    if not absent:
        return HostCheck("reports", State.OK, "notebooks can be executed")
    return HostCheck(
        "reports",
        State.LIMITED,
        f"without {', '.join(absent)}",
        "a run prints its answer, and there is no report.html and no lab",
        reports.INSTALL,
    )


def check_onload() -> HostCheck:
    """Onload's parts, each looked for; all that is missing is told, the first to fix first."""
    missing = Installation().missing()
    if not missing:
        return HostCheck("Onload", State.OK, "its programs and modules are there")
    return HostCheck(
        "Onload",
        State.MISSING,
        "\n".join(f"lacks {each.part}: {each.established}" for each in missing),
        "rows on Onload are not measured, and the results say why",
        "; then ".join(dict.fromkeys(each.hint for each in missing)),
    )
