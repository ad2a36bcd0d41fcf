"""Entry point of `stackcost`. A command is a module of this folder that registers with `app`."""

import re
import sys
from importlib import import_module
from pathlib import Path

from stackcost.cli.application import INTERRUPTED, USES, app
from stackcost.contracts.errors import StackcostError
from stackcost.files import SUITE
from stackcost.report.plain import visible

for _name in (name for names in USES.values() for name in names):
    import_module(f"{__package__}.{_name}")


def main() -> None:
    """Entry point of `stackcost`. Exit codes: 0; 1 error; 2 wrong command line; 130 Ctrl-C."""
    try:
        try:
            app()
        except Exception as error:
            from stackcost.servers.own_files import own_fault  # it imports what help does not need

            if fault := own_fault(error):
                raise fault from error
            raise
    except StackcostError as error:
        print(visible(f"stackcost: {_with_paths(error.what)}"), file=sys.stderr)
        if error.hint:
            print(visible(f"hint: {_with_paths(error.hint)}"), file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _with_paths(words: str) -> str:
    """Help with the whole path of each page of docs/ that is not below this folder."""

    def path_of(page: re.Match[str]) -> str:
        here, there = Path(page[0]), SUITE / page[0]
        return str(there) if there.is_file() and not here.is_file() else page[0]

    return re.sub(r"(?<![\w/])docs/[\w-]+\.md", path_of, words)
