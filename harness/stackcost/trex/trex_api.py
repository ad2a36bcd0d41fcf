"""Makes TRex's own client (PyPI lbr-trex-client 3.4.0) importable on Python 3.11 to 3.13.

The client expects modules that Python has dropped since (trex-core issue 1195), and it puts its
bundled scapy, pyzmq and yaml in front of the installed ones. Therefore it is only ever imported
in a process of its own; stackcost.trex.client is the way to reach it from the harness.
"""

import html
import importlib
import importlib.util
import sys
import time
import warnings
from types import ModuleType

from stackcost.contracts.errors import StackcostError
from stackcost.host.modules import hidden


def open_trex_api() -> None:
    """Make `trex.astf.api` and `trex.console` importable in this process, for good.

    StackcostError when the client is not installed.
    """
    _steady_clock()
    warnings.simplefilter("ignore")  # the client's escape sequences and deprecated calls
    _provide("imp", reload=importlib.reload, load_source=_import_file)  # dropped in 3.12
    _provide("cgi", escape=html.escape)  # dropped in 3.13; the bundled scapy wants this of it
    if hook := sys.modules.get("_distutils_hack"):  # setuptools' own distutils imports all of it
        hook.remove_shim()
    if importlib.util.find_spec("distutils") is None:  # dropped in 3.12
        importlib.import_module("setuptools")  # brings its own distutils
    try:
        importlib.import_module("lbr_trex_client")
    except ModuleNotFoundError:
        raise StackcostError(
            "lbr-trex-client, TRex's own client, is not installed",
            "run: pip install lbr-trex-client",
        ) from None
    importlib.import_module("trex")  # puts the bundled libraries first
    _replace_bundled_six()
    # The bundled scapy imports matplotlib where it finds it, which takes half of the client's
    # start. It draws nothing here.
    with hidden("matplotlib"):
        importlib.import_module("scapy.extlib")


def _steady_clock() -> None:
    """Let time.time() of this process go on by the monotonic clock.

    The client's time limits are differences of time.time(): a step of the wall clock backwards
    would make it wait for as long as the step, one forwards would end a wait at once.
    """
    began = time.time() - time.monotonic()
    time.time = lambda: began + time.monotonic()


def _provide(name: str, **contents: object) -> None:
    """Add a module of this name and contents, unless this Python still has it."""
    if importlib.util.find_spec(name) is None:
        module = ModuleType(name)
        module.__dict__.update(contents)
        sys.modules[name] = module


def _replace_bundled_six() -> None:
    """Load today's six in place of the one in the bundled scapy.

    The bundled one hooks imports by `find_module`, which Python 3.12 no longer calls.
    """
    importlib.import_module("scapy.modules")
    six = importlib.util.find_spec("six")
    if six is None or six.origin is None:
        raise StackcostError(
            "six is not installed, but TRex's client needs it", "run: pip install six"
        )
    _import_file("scapy.modules.six", six.origin)


def _import_file(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
