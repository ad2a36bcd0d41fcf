"""Runs rows of the benchmark: `script/bench [ROW ...]`, without names all of them.

A row is a module beside this one, named as on the command line, with a docstring whose first line
says what it measures and a function `run(trials)` that measures, prints its table and returns what
goes into the JSON file. A row that cannot run here raises StackcostError, which becomes the reason
in the file. What several rows use lies in tools/.
"""

import argparse
import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

from tools.machine import describe_machine

from stackcost.contracts.errors import StackcostError

FOLDER = Path(__file__).resolve().parent
REPOSITORY = FOLDER.parents[1]


def row_names() -> list[str]:
    """Every row there is."""
    return sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))


def title(name: str) -> str:
    """What a row measures, by the first line of its docstring."""
    return (importlib.import_module(name).__doc__ or name).splitlines()[0]


def run_row(name: str, trials: int) -> dict[str, Any]:
    """One row's result; a row that cannot run says why."""
    print(f"\n== {name}: {title(name)}", flush=True)
    begin = time.monotonic()
    try:
        result = dict(importlib.import_module(name).run(trials))
    except StackcostError as reason:
        print(f"not run: {reason}", flush=True)
        result = {"not_run": str(reason)}
    return {"title": title(name), "seconds": round(time.monotonic() - begin, 1), **result}


def main() -> None:
    """Run the rows asked for; the file is written after each, so a killed run leaves the others."""
    parser = argparse.ArgumentParser(prog="script/bench", add_help=False)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--out", type=Path, default=REPOSITORY / "build" / "bench.json")
    options = parser.parse_args()
    if unknown := set(options.rows) - set(row_names()):
        parser.error(f"no row {', '.join(sorted(unknown))}; there are {', '.join(row_names())}")
    if options.trials < 1:
        parser.error("--trials must be at least 1")
    results: dict[str, Any] = {"machine": describe_machine(), "rows": {}}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for name in options.rows or row_names():
        results["rows"][name] = run_row(name, options.trials)
        options.out.write_text(json.dumps(results, indent=2) + "\n")
    print(f"\n{options.out}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; the rows finished so far are in the file")
