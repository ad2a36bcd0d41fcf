"""TRex's own console from the PyPI package, on any Python the suite supports."""

import importlib
import sys

from stackcost.contracts.errors import StackcostError
from stackcost.trex.trex_api import open_trex_api


def main() -> None:
    """Run the console with this process's arguments, which are TRex's own (`--help`)."""
    try:
        open_trex_api()
    except StackcostError as error:
        sys.exit(f"trex-console: {error}")
    sys.argv[0] = "trex-console"
    importlib.import_module("trex.console.trex_console").main()


if __name__ == "__main__":
    main()
