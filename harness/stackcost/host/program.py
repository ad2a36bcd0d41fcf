"""Starts, watches and ends a program of the test bed."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stackcost.contracts.errors import StackcostError
from stackcost.host.namespace import END_TIMEOUT_S, end_group
from stackcost.host.timeouts import on_a_slow_host, scaled_timeout
from stackcost.host.waiting import wait_until

START_LIMIT_S = 10.0
WORDS = 40  # of the end of what it printed, in an error


class Program:
    """One program and its children; it can be started again after its end.

    `name`: for error messages. `log`: its output; each start overwrites it.
    """

    def __init__(self, name: str, log: Path):
        self.name = name
        self.log = log
        self._process: subprocess.Popen[Any] | None = None

    def start(
        self, spawn: Callable[..., "subprocess.Popen[Any]"], command: list[str], **options: Any
    ) -> None:
        """Start it. `spawn`: starts a command in the right namespace, with Popen's `options`."""
        with self.log.open("wb") as output:
            self._process = spawn(command, stdout=output, stderr=output, **options)

    @property
    def process_id(self) -> int | None:
        """Its process id between `start` and `end`; it may have ended by itself."""
        return self._process.pid if self._process else None

    @property
    def status(self) -> int | None:
        """Its exit status if it ended by itself; None while it runs or before its start."""
        return self._process.poll() if self._process else None

    @property
    def runs(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def wait_until_up(self, answers: Callable[[], bool], limit_s: float = START_LIMIT_S) -> bool:
        """Wait until `answers` returns True; False if the program ended before, or time ran out."""
        up = False

        def settled() -> bool:
            nonlocal up
            ended = not self.runs
            up = not ended and answers()
            return up or ended

        wait_until(settled, scaled_timeout(limit_s))
        return up

    def start_error(self) -> StackcostError:
        """The reason why it did not start: it ended or did not answer, with its last output."""
        said = " ".join(self.output().split()[-WORDS:]) or "it printed nothing"
        if (status := self.status) is not None:
            return StackcostError(
                f"{self.name} ended with exit status {status}: {said}", f"see {self.log}"
            )
        return StackcostError(
            f"{self.name} did not answer: {said}", f"see {self.log}; {on_a_slow_host()}"
        )

    def output(self) -> str:
        """Its output so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def end(self, timeout_s: float = END_TIMEOUT_S) -> None:
        """End it with all its children; may be called at any time, more than once."""
        if self._process is not None:
            end_group(self._process, timeout_s)
            self._process = None
