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
# Of a plan: everything but its title and its loads.
NGINX_ALONE: dict[str, Any] = {
    "servers": ["nginx/kernel"],
    "baseline": "nginx/kernel",
    "against": "nginx/kernel",
    "rounds": 1,
    "cores": {"load": [0], "server": [1]},
    "workload": {
        "response_bytes": 1000,
        "clients": "16.0.0.1-16.0.0.200",
        "server": "48.0.0.1",
        "port": 80,
    },
}
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
AuthorizedKeysFile /run/sshd/authorized
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
    """A controller `c` and other hosts, joined by a management network and a test network.

    Management: mgmt0 of each, 10.99.0.1 of c, 10.99.0.2 of the first other host, and so on. Test:
    nic0 and nic1 of each. Two hosts are joined directly. A switch joins more: it has a bridge for
    each of these.
    """

    def __init__(self, folder: Path, others: Sequence[str] = ("b",)):
        self.folder = folder
        self.known_hosts = folder / "known_hosts"
        self._names = others
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as entered:
            self.c = LabHost("c")
            self.others = {name: LabHost(name) for name in self._names}
            for host in self.all:
                entered.callback(host.end)
            if len(self.others) == 1:
                for name in ("mgmt0", *NICS):
                    _join(self.c, name, self.b, name)
            else:
                switch = LabHost("switch")
                entered.callback(switch.end)
                for name in ("mgmt0", *NICS):
                    self._switch(switch, name)
            for at, host in enumerate(self.all, 1):
                host.said("ip", "address", "add", f"10.99.0.{at}/24", "dev", "mgmt0")
                # As a NIC has it: a veth end polls a queue only like this.
                for nic in NICS:
                    host.said("ethtool", "-K", nic, "tso", "off", "gro", "on")
            for key in ("host_key", "other_key", "user_key"):
                make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / key]
                subprocess.run(make, check=True)
            self.trust("host_key")
            for name in self.others:
                sshd = self.start_sshd(name)
                entered.callback(sshd.wait)
                entered.callback(sshd.kill)
            self._exit = entered.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    @property
    def all(self) -> list[LabHost]:
        """Every host, the controller first."""
        return [self.c, *self.others.values()]

    @property
    def b(self) -> LabHost:
        """The host of that name."""
        return self.others["b"]

    @property
    def address(self) -> str:
        """The management address of b."""
        return self.address_of("b")

    def address_of(self, name: str) -> str:
        """The management address of a host that is not the controller."""
        return f"10.99.0.{2 + self._names.index(name)}"

    def start_sshd(self, name: str = "b") -> "subprocess.Popen[Any]":
        """Start the SSH server of a host, and wait until it answers."""
        file, host = self.folder / f"{name}-sshd_config", self.others[name]
        file.write_text(SSHD.format(address=self.address_of(name), folder=self.folder))
        # A user other than root may not read the folder of the test.
        host.said("cp", str(self.folder / "user_key.pub"), "/run/sshd/authorized")
        log = (self.folder / f"{name}-sshd.log").open("ab")
        sshd = host.start(["/usr/sbin/sshd", "-D", "-e", "-f", str(file)], stderr=log)
        listening = ["ss", "-Hltn", "sport = :22"]
        assert wait_until(lambda: host.said(*listening), LIMIT_S)
        return sshd

    def trust(self, key: str) -> None:
        """Let this be the known key of every host."""
        public = (self.folder / f"{key}.pub").read_text()
        lines = (f"{self.address_of(name)} {public}" for name in self._names)
        self.known_hosts.write_text("".join(lines))

    def hosts(self, **changed: Any) -> dict[str, Any]:
        """The section `hosts` of an experiment."""
        return {
            name: {
                "address": self.address_of(name),
                "key": str(self.folder / "user_key"),
                "known_hosts": str(self.known_hosts),
                "python": sys.executable,
            }
            | changed
            for name in self._names
        }

    def _switch(self, switch: LabHost, name: str) -> None:
        """Join interface `name` of every host by a bridge of that name."""
        switch.said("ip", "link", "add", name, "type", "bridge")
        switch.said("ip", "link", "set", name, "up")
        for host in self.all:
            port = f"{host.name}-{name}"
            _join(host, name, switch, port)
            switch.said("ip", "link", "set", port, "master", name)


def _join(one: LabHost, name: str, other: LabHost, port: str) -> None:
    ends = f"{name} netns {one.pid} type veth peer name {port} netns {other.pid}"
    subprocess.run(f"ip link add {ends}".split(), check=True)
    for host, interface in ((one, name), (other, port)):
        host.said("ip", "link", "set", interface, "up")
