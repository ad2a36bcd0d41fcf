"""Runs scenarios of a module, each forked off this process, which has TRex's client imported.

As `python -m tests.rpc.forked MODULE` it reads lines of SCENARIO RPC_PORT ASYNC_PORT ... from
standard input, and answers each with the exit status of the scenario.
"""

import importlib
import os
import sys
import traceback
from types import ModuleType


def end_with(module: ModuleType, scenario: str) -> None:
    """Never returns: the client's threads end with the process, whatever they wait for."""
    status = 1
    try:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        getattr(module, scenario)()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    """One scenario after the other."""
    module = importlib.import_module(f"tests.rpc.{sys.argv[1]}")
    for line in sys.stdin:
        sys.argv[1:] = line.split()
        child = os.fork()
        if child == 0:
            end_with(module, sys.argv[1])
        _, ended = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(ended), flush=True)


if __name__ == "__main__":
    main()
