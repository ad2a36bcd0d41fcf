"""Hosts on one machine: each is a mount and a network namespace, with its own /run and SSH server.

All addresses are inside these namespaces: no interface of the machine itself is used, and nothing
listens on one.
"""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from stackcost.host.waiting import wait_until

LIMIT_S = 20.0
NICS = ("nic0", "nic1")
# /run gets what is private to a host: names of namespaces, locks, state. /sys has to show the
# interfaces of this namespace.
ENTER = """
set -e
mount -t tmpfs none /run
mkdir -p /run/sshd /run/netns /run/sys
mount -t sysfs none /run/sys
for each in kernel/tracing kernel/debug fs/cgroup fs/bpf; do
  if mountpoint -q /sys/$each; then mount --rbind /sys/$each /run/sys/$each; fi
done
mount --move /run/sys /sys
ip link set lo up
echo ready
exec sleep infinity
"""
SSHD = """
ListenAddress {address}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
"""


class LabHost:
    """One host."""

    def __init__(self, name: str):
        self.name = name
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "--net", "--fork", "--kill-child", "sh", "-c", ENTER],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == "ready\n"
        children = Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children")
        self.pid = int(children.read_text().split()[0])
        self._enter = ["nsenter", "-t", str(self.pid), "-m", "-n"]

    def start(self, command: Sequence[str], **options: Any) -> "subprocess.Popen[Any]":
        """Start a program on this host."""
        return subprocess.Popen([*self._enter, "--", *command], **options)

    def run(self, command: Sequence[str], limit_s: float = 120.0) -> "subprocess.CompletedProcess":
        """Run a program on this host to its end."""
        enter = [*self._enter, "--", *command]
        return subprocess.run(enter, capture_output=True, text=True, timeout=limit_s)

    def said(self, *command: str) -> str:
        """What a program printed; it has to succeed."""
        done = self.run(command)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def end(self) -> None:
        """End it, and with it everything in its namespaces."""
        self._holder.kill()
        self._holder.wait()


class Lab:
    """A controller `c` and a host `b`, joined by a management link and by a test link.

    Management: 10.99.0.1 (mgmt0 of c) and 10.99.0.2 (mgmt0 of b). Test: nic0 and
    nic1 of each.
    """

    address = "10.99.0.2"

    def __init__(self, folder: Path):
        self.folder = folder
        self.known_hosts = folder / "known_hosts"
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as entered:
            self.c, self.b = LabHost("c"), LabHost("b")
            for host in (self.c, self.b):
                entered.callback(host.end)
            for name in ("mgmt0", *NICS):
                self._join(name)
            for host, address in ((self.c, "10.99.0.1/24"), (self.b, f"{self.address}/24")):
                host.said("ip", "address", "add", address, "dev", "mgmt0")
                # As a NIC has it: a veth end polls a queue only like this.
                for nic in NICS:
                    host.said("ethtool", "-K", nic, "tso", "off", "gro", "on")
            for key in ("host_key", "other_key", "user_key"):
                make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / key]
                subprocess.run(make, check=True)
            self.trust("host_key")
            sshd = self.start_sshd()
            entered.callback(sshd.wait)
            entered.callback(sshd.kill)
            self._exit = entered.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def start_sshd(self) -> "subprocess.Popen[Any]":
        """Start the SSH server of b, and wait until it answers."""
        file = self.folder / "sshd_config"
        file.write_text(SSHD.format(address=self.address, folder=self.folder))
        log = (self.folder / "sshd.log").open("ab")
        sshd = self.b.start(["/usr/sbin/sshd", "-D", "-e", "-f", str(file)], stderr=log)
        listening = ["ss", "-Hltn", "sport = :22"]
        assert wait_until(lambda: self.b.said(*listening), LIMIT_S)
        return sshd

    def trust(self, key: str) -> None:
        """Let this be the known key of b."""
        public = (self.folder / f"{key}.pub").read_text()
        self.known_hosts.write_text(f"{self.address} {public}")

    def hosts(self, **changed: Any) -> dict[str, Any]:
        """The section `hosts` of an experiment."""
        host = {
            "address": self.address,
            "key": str(self.folder / "user_key"),
            "known_hosts": str(self.known_hosts),
            "python": sys.executable,
        }
        return {"b": host | changed}

    def _join(self, name: str) -> None:
        c, b = self.c.pid, self.b.pid
        make = f"ip link add {name} netns {c} type veth peer name {name} netns {b}"
        subprocess.run(make.split(), check=True)
        for host in (self.c, self.b):
            host.said("ip", "link", "set", name, "up")
