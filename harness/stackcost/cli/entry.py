"""Entry point of `stackcost`. A command is a module of this folder that registers with `app`."""

import sys
from importlib import import_module

from stackcost.cli.application import INTERRUPTED, USES, app
from stackcost.contracts.errors import StackcostError
from stackcost.report.plain import visible

for _name in (name for names in USES.values() for name in names):
    import_module(f"{__package__}.{_name}")


def main() -> None:
    """Entry point of `stackcost`. Exit codes: 0; 1 error; 2 wrong command line; 130 Ctrl-C."""
    try:
        app()
    except StackcostError as error:
        print(visible(f"stackcost: {error.what}"), file=sys.stderr)
        if error.hint:
            print(visible(f"hint: {error.hint}"), file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
