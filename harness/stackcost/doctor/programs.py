"""Checks of the programs that the suite uses."""

import importlib.metadata
import subprocess
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.doctor.check import Finding, limited, missing, ok
from stackcost.host.debian import FILES, LIBRARIES, PROGRAMS, install_command
from stackcost.host.namespace import find_program
from stackcost.report import extra as reports
from stackcost.servers.nginx_status import find_build
from stackcost.stacks.onload import Installation
from stackcost.trex.astf_server import engine_path, trex_home


def check_engine() -> Finding:
    """The engine and the libraries that it needs."""
    try:
        path = engine_path()
    except StackcostError as error:
        return missing(error.what, "no traffic can be generated", error.hint)
    told = subprocess.run(["ldd", str(path)], capture_output=True, text=True).stdout
    lines = [line.partition("=>") for line in told.splitlines()]
    absent = [name.strip() for name, _, found in lines if found.strip() == "not found"]
    if not absent:
        return ok(str(path))
    return missing(
        f"{path} needs libraries that are not installed: {', '.join(absent)}",
        "no traffic can be generated",
        install_command(LIBRARIES[name] for name in absent if name in LIBRARIES),
    )


def check_trex() -> Finding:
    """TRex itself, which replaces the engine if TREX_HOME names it."""
    try:
        home = trex_home()
    except StackcostError as error:
        return missing(error.what, "no traffic can be generated", error.hint)
    return ok(str(home) if home else "not set: astf-engine is used")


def check_trex_client() -> Finding:
    """TRex's own client, which controls both generators."""
    try:
        version = importlib.metadata.version("lbr-trex-client")
    except importlib.metadata.PackageNotFoundError:
        return missing(
            "it is not installed",
            "no traffic can be generated",
            "pip install lbr-trex-client",
        )
    return ok(version)


def check_nginx() -> Finding:
    """The installed nginx, and whether it can count requests."""
    try:
        build = find_build()
    except StackcostError as error:
        return missing(error.what, "nginx is not measured", error.hint)
    return ok(build.version)


def check_tools() -> Finding:
    """Programs and headers that the test bed and systems under test use."""
    absent = {}
    for name, package in PROGRAMS.items():
        try:
            find_program(name)
        except StackcostError:
            absent[name] = package
    absent |= {path: package for path, package in FILES.items() if not Path(path).exists()}
    if not absent:
        return ok(", ".join(PROGRAMS))
    return missing(
        f"not installed: {', '.join(absent)}",
        "some measurements will fail",
        install_command(absent.values()),
    )


def check_reports() -> Finding:
    """The packages that render reports and open notebooks. Measurements do not need them."""
    absent = reports.missing()
    if not absent:
        return ok("the packages for notebooks are installed")
    return limited(
        f"not installed: {', '.join(absent)}",
        "a run prints its result; there is no report.html, and stackcost lab does not work",
        reports.INSTALL,
    )


def check_onload() -> Finding:
    """The parts of Onload. All missing parts are listed, in the order in which to fix them."""
    absent = Installation().missing()
    if not absent:
        return ok("its programs and modules are installed")
    return missing(
        "\n".join(f"missing: {each.part}: {each.established}" for each in absent),
        "systems on Onload are not measured; the results give the reason",
        "; then ".join(dict.fromkeys(each.hint for each in absent)),
    )
