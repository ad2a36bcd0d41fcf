"""Programs that the suite starts or could start."""

import importlib.metadata
import os

from harness.doctor.check import Check, State
from servers.nginx_kernel.configuration import find_build
from stackcost.contracts.errors import StackcostError
from stackcost.host.namespace import find_program
from stackcost.stacks.onload import Installation
from stackcost.trex.generator import engine_path, trex_home

BOOTSTRAP = "script/bootstrap"
TOOLS = (
    "ip",
    "ethtool",
    "sysctl",
    "taskset",
    "clang",
    "nft",
    "wrk",
    "ab",
    "h2load",
    "openssl",
    "curl",
)


def check_engine() -> Check:
    """The engine, built; with TREX_HOME set nothing needs it."""
    needed = "TREX_HOME" not in os.environ
    try:
        return Check("astf-engine", State.OK, str(engine_path()), needed=needed)
    except StackcostError as error:
        return Check("astf-engine", State.MISSING, error.what, "no load", error.mend, needed=needed)


def check_trex() -> Check:
    """TRex itself, which takes the engine's place when it is named."""
    try:
        home = trex_home()
    except StackcostError as error:
        return Check("TREX_HOME", State.MISSING, error.what, "no load", error.mend, needed=True)
    return Check("TREX_HOME", State.OK, str(home) if home else "not set: astf-engine is used")


def check_trex_client() -> Check:
    """TRex's own client, which drives either."""
    try:
        version = importlib.metadata.version("lbr-trex-client")
    except importlib.metadata.PackageNotFoundError:
        return Check(
            "lbr-trex-client",
            State.MISSING,
            "not installed",
            "no load",
            BOOTSTRAP,
            needed=True,
        )
    return Check("lbr-trex-client", State.OK, version, needed=True)


def check_nginx() -> Check:
    """The nginx installed, and whether it can count requests."""
    try:
        build = find_build()
    except StackcostError as error:
        return Check("nginx", State.MISSING, error.what, "no nginx row", error.mend, needed=True)
    return Check("nginx", State.OK, build.version, needed=True)


def check_tools() -> Check:
    """Small programs that the test bed and the tests use."""
    absent = []
    for name in TOOLS:
        try:
            find_program(name)
        except StackcostError:
            absent.append(name)
    if not absent:
        return Check("tools", State.OK, ", ".join(TOOLS))
    return Check(
        "tools", State.MISSING, f"without {', '.join(absent)}", "parts will fail", BOOTSTRAP
    )


def check_onload() -> Check:
    """Onload's parts, each looked for; all that is missing is told, the first to mend first."""
    missing = Installation().missing()
    if not missing:
        return Check("Onload", State.OK, "its programs and modules are there")
    return Check(
        "Onload",
        State.MISSING,
        "\n".join(f"lacks {each.part}: {each.established}" for each in missing),
        "rows on Onload are not measured, and the results say why",
        "; then ".join(dict.fromkeys(each.mend for each in missing)),
    )
