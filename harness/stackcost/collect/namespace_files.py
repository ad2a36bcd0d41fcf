"""Files of /proc of a network namespace, which are kept open and read repeatedly.

They are opened by a thread that enters the namespace: the kernel ties an open file of /proc/net to
the namespace it was opened in. They also keep the namespace alive, so close them before it is
removed.
"""

import os
import threading
from collections.abc import Mapping
from pathlib import Path

from pyroute2 import netns

from stackcost.contracts.errors import StackcostError
from stackcost.host.as_root import same_as_root

NAMESPACES = Path("/run/netns")


class NamespaceFiles:
    """Some files by name; those that this kernel does not have are absent.

    `namespace`: a name of `ip netns`, None for this process's own.
    """

    def __init__(self, namespace: str | None, paths: Mapping[str, str]):
        self._namespace = namespace
        self._paths = paths
        self._files: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def open(self) -> None:
        """Open them. StackcostError when there is no such namespace, or it cannot be entered."""
        if self._namespace and not (NAMESPACES / self._namespace).exists():
            raise StackcostError(f"there is no network namespace {self._namespace}")
        refused: list[OSError] = []
        thread = threading.Thread(target=self._open, args=(refused,), name="enter namespace")
        thread.start()
        thread.join()
        if refused:
            raise StackcostError(
                f"network namespace {self._namespace} cannot be entered: {refused[0]}",
                f"run as root: {same_as_root()}",
            )

    def text(self, name: str) -> str:
        """The current content of a file."""
        return os.pread(self._files[name], 1 << 20, 0).decode()

    def close(self) -> None:
        """Close them, which releases the namespace."""
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()

    def _open(self, refused: list[OSError]) -> None:
        try:
            if self._namespace:
                netns.setns(self._namespace, flags=0)
        except OSError as error:
            refused.append(error)
            return
        for name, path in self._paths.items():
            if os.path.exists(path):
                self._files[name] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
