"""nginx in runsc, gVisor's sandbox: its system calls and its TCP are those of a kernel in Go.

runsc takes the addresses and routes from the interface that it finds in the namespace, and has its
frames from a packet socket on it.
"""

import contextlib
import json
import subprocess
from pathlib import Path
from typing import Any, ClassVar

import psutil
from typing_extensions import override

from stackcost.contracts.addresses import CLIENT_NETWORK, LOAD_ADDRESS, SERVER_ADDRESS
from stackcost.contracts.errors import StackcostError
from stackcost.host.namespace import NAMESPACE_FOLDER, execute
from stackcost.host.native import GO, NativeProgram
from stackcost.host.timeouts import scaled_timeout
from stackcost.servers.native import Native
from stackcost.servers.nginx_status import find_build
from stackcost.servers.template import render_template
from stackcost.servers.user_stack import UserStack

HERE = Path(__file__).parent
CONTAINER = "stackcost"
STATE = "runsc"
DELETE_TIMEOUT_S = 20
SPARE_FILES = 200
RIGHTS = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_NET_BIND_SERVICE", "CAP_SETGID", "CAP_SETUID")


class NginxInGvisor(Native, UserStack):
    """Debian's nginx, on the machine's own files. `platform`: how the sandbox gets system calls.

    It has no count of requests: the sandbox lets no socket out but its network's.
    """

    name = "nginx/gvisor"
    native = NativeProgram("runsc", HERE, GO, (1, 26), ("gvisor.dev/gvisor",))
    not_counted = "its sandbox is several programs, which start each other"
    platform: ClassVar[str] = "systrap"

    @override
    def command(self) -> list[str]:
        return [*self._runsc, "run", "--bundle", ".", CONTAINER]

    @property
    def _runsc(self) -> list[str]:
        return [
            *(str(self.native.build()), "--root", STATE, f"--platform={self.platform}"),
            *("--network=sandbox", "--overlay2=root:memory", "--ignore-cgroups"),
        ]

    def write_files(self) -> None:
        """The body, nginx's configuration, and the sandbox's (config.json of an OCI bundle)."""
        folder = self.endpoint.folder
        (folder / "www").mkdir(exist_ok=True)
        (folder / "www" / "body").write_bytes(bytes(self.body_bytes))
        for name, text in self._configuration().items():
            (folder / name).write_text(text)

    def begin(self) -> None:
        """Give the interface its addresses and routes for the sandbox, which takes them away."""
        where = self.endpoint
        commands = [
            f"ip address flush dev {where.interface}",
            f"ip address add {SERVER_ADDRESS}/24 dev {where.interface}",
            f"ip address add {where.address}/32 dev {where.interface}",
            f"ip route replace {CLIENT_NETWORK} via {LOAD_ADDRESS}",
        ]
        for command in commands:
            execute(where.namespace, command.split())
        super().begin()

    @override
    def requests_counted(self) -> int | None:
        return None

    def processes(self) -> dict[str, int]:
        """runsc itself, the sandbox, and who opens files for it.

        The sandbox's children, which the platform makes, map memory that is the sandbox's.
        """
        found = super().processes()
        if (first := found.pop("worker-0", None)) is None:
            return {}
        found["runsc"] = first
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(first).children():
                role = "gofer" if "gofer" in child.cmdline()[0] else "sandbox"
                found[role] = child.pid
        return found

    def describe(self) -> dict[str, Any]:
        """With nginx's version, and both configurations."""
        return super().describe() | {
            "version": find_build().version,
            "platform": self.platform,
            "configuration": "\n".join(self._configuration().values()),
        }

    def stop(self) -> None:
        """Have the sandbox removed before its parent is ended; the addresses go with it."""
        if self._program.process_id is not None and self._program.runs:
            command = [*self._runsc, "delete", "--force", CONTAINER]
            with contextlib.suppress(subprocess.TimeoutExpired):
                subprocess.run(
                    command,
                    cwd=self.endpoint.folder,
                    capture_output=True,
                    timeout=scaled_timeout(DELETE_TIMEOUT_S),
                )
        super().stop()

    def _answers(self) -> bool:
        """Whether it answers; nothing answers ARP before the sandbox is up."""
        try:
            self._ask()
        except StackcostError as error:
            if isinstance(error.__cause__, OSError):
                return False
            raise
        return True

    def _configuration(self) -> dict[str, str]:
        where, settings = self.endpoint, self.settings
        nginx = render_template(
            HERE / "nginx.conf.j2",
            workers=self.workers,
            connections=settings.program.worker_connections,
            address=where.address,
            port=where.port,
            backlog=settings.program.backlog,
        )
        return {"nginx.conf": nginx, "config.json": json.dumps(self._bundle(), indent=2)}

    def _bundle(self) -> dict[str, Any]:
        """What is to run, and where: the machine's root, whose changes stay in memory."""
        folder = str(self.endpoint.folder.resolve())
        files = self.settings.program.worker_connections + SPARE_FILES
        namespace = str(NAMESPACE_FOLDER / self.endpoint.namespace)
        kinds = ("pid", "mount", "ipc", "uts")
        return {
            "ociVersion": "1.0.0",
            "process": {
                "user": {"uid": 0, "gid": 0},
                "args": [find_build().path, "-p", ".", "-e", "stderr", "-c", "nginx.conf"],
                "cwd": folder,
                "env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
                "rlimits": [{"type": "RLIMIT_NOFILE", "hard": files, "soft": files}],
                "capabilities": {
                    kind: list(RIGHTS) for kind in ("bounding", "effective", "permitted")
                },
            },
            "root": {"path": "/", "readonly": False},
            "mounts": [
                {"destination": "/proc", "type": "proc", "source": "proc"},
                {"destination": "/run", "type": "tmpfs", "source": "tmpfs"},
                {"destination": folder, "type": "bind", "source": folder, "options": ["ro"]},
            ],
            "linux": {
                "namespaces": [
                    *({"type": kind} for kind in kinds),
                    {"type": "network", "path": namespace},
                ]
            },
        }


class NginxInGvisorByPtrace(NginxInGvisor):
    """nginx in gVisor by the older platform, which needs nothing of the host but ptrace."""

    name = "nginx/gvisor-ptrace"
    platform = "ptrace"
