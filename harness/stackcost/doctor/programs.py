"""Checks of the programs that the suite uses."""

import importlib.metadata
import os
import subprocess
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.doctor.check import HostCheck, State
from stackcost.host.debian import FILES, LIBRARIES, PROGRAMS, install_command
from stackcost.host.namespace import find_program
from stackcost.report import extra as reports
from stackcost.servers.nginx_status import find_build
from stackcost.stacks.onload import Installation
from stackcost.trex.astf_server import engine_path, trex_home


def check_engine() -> HostCheck:
    """The engine and the libraries that it needs. With TREX_HOME set the engine is not needed."""
    needed = "TREX_HOME" not in os.environ
    try:
        path = engine_path()
    except StackcostError as error:
        return HostCheck(
            "astf-engine",
            State.MISSING,
            error.what,
            "no traffic can be generated",
            error.hint,
            needed=needed,
        )
    absent = missing_libraries(path)
    if not absent:
        return HostCheck("astf-engine", State.OK, str(path), needed=needed)
    return HostCheck(
        "astf-engine",
        State.MISSING,
        f"{path} needs libraries that are not installed: {', '.join(absent)}",
        "no traffic can be generated",
        install_command(LIBRARIES[name] for name in absent if name in LIBRARIES),
        needed=needed,
    )


def missing_libraries(program: Path) -> list[str]:
    """Shared libraries that a program needs and the loader does not find."""
    done = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    lines = [line.partition("=>") for line in done.stdout.splitlines()]
    return [name.strip() for name, _, found in lines if found.strip() == "not found"]


def check_trex() -> HostCheck:
    """TRex itself, which replaces the engine if TREX_HOME names it."""
    try:
        home = trex_home()
    except StackcostError as error:
        return HostCheck(
            "TREX_HOME",
            State.MISSING,
            error.what,
            "no traffic can be generated",
            error.hint,
            needed=True,
        )
    return HostCheck("TREX_HOME", State.OK, str(home) if home else "not set: astf-engine is used")


def check_trex_client() -> HostCheck:
    """TRex's own client, which controls both generators."""
    try:
        version = importlib.metadata.version("lbr-trex-client")
    except importlib.metadata.PackageNotFoundError:
        return HostCheck(
            "lbr-trex-client",
            State.MISSING,
            "it is not installed",
            "no traffic can be generated",
            "pip install lbr-trex-client",
            needed=True,
        )
    return HostCheck("lbr-trex-client", State.OK, version, needed=True)


def check_nginx() -> HostCheck:
    """The installed nginx, and whether it can count requests."""
    try:
        build = find_build()
    except StackcostError as error:
        return HostCheck(
            "nginx", State.MISSING, error.what, "nginx is not measured", error.hint, needed=True
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
        f"not installed: {', '.join(absent)}",
        "some measurements will fail",
        install_command(absent.values()),
    )


def check_reports() -> HostCheck:
    """The packages that render reports and open notebooks. Measurements do not need them."""
    absent = reports.missing()
    if not absent:
        return HostCheck("reports", State.OK, "the packages for notebooks are installed")
    return HostCheck(
        "reports",
        State.LIMITED,
        f"not installed: {', '.join(absent)}",
        "a run prints its result; there is no report.html, and stackcost lab does not work",
        reports.INSTALL,
    )


def check_onload() -> HostCheck:
    """The parts of Onload. All missing parts are listed, in the order in which to fix them."""
    missing = Installation().missing()
    if not missing:
        return HostCheck("Onload", State.OK, "its programs and modules are installed")
    return HostCheck(
        "Onload",
        State.MISSING,
        "\n".join(f"missing: {each.part}: {each.established}" for each in missing),
        "systems on Onload are not measured; the results give the reason",
        "; then ".join(dict.fromkeys(each.hint for each in missing)),
    )
