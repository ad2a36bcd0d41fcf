#!/usr/bin/python3 -SE
"""Stands for Onload and for what a launcher asks of a machine: records each call, plays a case.

Installed under many names in front of PATH; $STANDIN is its folder: `case` names what goes wrong,
`calls` takes the record, `root` has the /sys, /proc and /dev that are looked at.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

HOME = Path(os.environ["STANDIN"])
ROOT = HOME / "root"
CASE = (HOME / "case").read_text()
MODULE = ROOT / "sys/module/onload"
# As the launcher, a shell script, reads a profile: the first to set a value wins, a fragment reads
# what was set before it, and divides by the size of the cluster.
LAUNCHER = """
onload_set() { eval test -n "\\"\\$$1\\"" || { eval "$1='$2'"; export "$1"; }; }
onload_import() {
  case $1 in
  throughput)
    onload_set EF_MAX_ENDPOINTS 1000000
    onload_set EF_SOCKET_CACHE_MAX $((EF_MAX_ENDPOINTS / 4))
    onload_set EF_MAX_PACKETS $((5760000 / EF_CLUSTER_SIZE)) ;;
  wan-traffic) onload_set EF_ENDPOINT_PACKET_RESERVE 3 ;;
  esac
}
. "$0"
exec env -0
"""
COUNTERS = (
    *("k_polls", "u_polls", "rx_evs", "tx_evs"),
    *("ul_accepts", "sockcache_hit", "sock_wakes_rx_os", "no_match_pass_to_kernel_tcp"),
)


def record(name: str, arguments: list[str], **more: str) -> None:
    with (HOME / "calls").open("a") as calls:
        calls.write(json.dumps([name, *arguments, *more.values()]) + "\n")


def say(text: str, code: int = 0) -> None:
    print(text, file=sys.stderr if code else sys.stdout)
    sys.exit(code)


def modprobe(arguments: list[str]) -> None:
    if CASE == "modules absent":
        say("modprobe: FATAL: Module onload not found in directory /lib/modules/6.1", 1)
    if arguments[0] == "onload":
        parameters = ROOT / "sys/module/sfc_resource/parameters"
        for folder in (MODULE, parameters, ROOT / "sys/module/sfc_resource/afxdp", ROOT / "dev"):
            folder.mkdir(parents=True, exist_ok=True)
        (parameters / "enable_af_xdp_flow_filters").write_text("1")
        (ROOT / "dev/onload").touch()


def onload(arguments: list[str]) -> None:
    """As `onload -p FILE PROGRAM ...`: becomes the program, with descriptors as of the case."""
    assert arguments[0] == "-p"
    program = arguments[2:]
    words = {
        "modules absent": ("The onload drivers are not loaded.", 1),
        "no interface": ("nginx: [emerg] socket() 48.0.0.1:80 failed (19: No such device)", 1),
        "no virtual interface": ("socket() failed (16: Device or resource busy)", 1),
        "flow filters on": ("listen() to 48.0.0.1:80 failed (95: Operation not supported)", 1),
        "cluster": ("bind() to 48.0.0.1:80 failed (95: Operation not supported)", 1),
        "no profile": ("onload: ERROR: Cannot find profile 'throughput'", 3),
    }
    if CASE == "no virtual interface":
        (HOME / "dmesg").write_text("[onload] Failed to allocate stack (rc=-16)\n")
    if CASE in words:
        say(*words[CASE])
    environment = settled(arguments[1])
    if "EF_CLUSTER_IGNORE" in environment:
        print("EF_CLUSTER_IGNORE is deprecated use EF_CLUSTER_SIZE instead", file=sys.stderr)
    if CASE == "closed connections":
        keep_closed(int(environment.get("EF_SOCKET_CACHE_MAX", 0)))
    proc = ROOT / f"proc/{os.getpid()}"
    (proc / "fd").mkdir(parents=True)
    (proc / "net").mkdir()
    (proc / "net/tcp").write_text(
        "sl local rem st q tr tm retr uid timeout inode\n"
        "0: 01000030:0050 00000000:0000 0A 0:0 0:0 0 0 0 12698 1\n"
    )
    carried = "onload:[tcpl:0:2047]"
    if CASE == "no control plane":
        (HOME / "dmesg").write_text("[sfc efrm] Failed to spawn server: rc=-2\n")
        carried = "socket:[12698]"
    (proc / "fd/5").symlink_to(carried)
    (proc / "fd/6").symlink_to("/dev/onload")  # held open after a fall-back, too
    if CASE != "no control plane":
        with (HOME / "stack").open("a") as stack:
            stack.write(f"{os.getpid()}\n")
    os.execvpe(program[0], program, environment)


def settled(profile: str) -> dict[str, str]:
    """The program's environment, with what the profile sets."""
    done = subprocess.run(["sh", "-c", LAUNCHER, profile], capture_output=True, text=True)
    if done.returncode:
        say(done.stderr, done.returncode)
    return dict(line.split("=", 1) for line in done.stdout.split("\0") if line)


def keep_closed(number: int) -> None:
    """Keep as many descriptors as closed sockets fit into the cache; the program has them, too."""
    for _ in range(number):
        try:
            os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)
        except OSError as error:
            say(f"accept4() failed ({error.errno}: {error.strerror})", 1)


def stacks() -> list[str]:
    """Process ids of programs that have a stack and live."""
    told = (HOME / "stack").read_text().split() if (HOME / "stack").exists() else []
    return [number for number in told if is_alive(number)]


def is_alive(number: str) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def onload_stackdump(arguments: list[str]) -> None:
    table = "#stack-id stack-name      pids\n"
    if arguments == ["-z", "stacks"]:
        say(table + ("1  <zombie>  -" if CASE == "orphan" else ""))
    elif arguments == ["stacks"]:
        if CASE == "busy once" and not (HOME / "busy").exists():
            (HOME / "busy").touch()
            say("the stack is locked", 1)
        rows = [f"{at}         -               {number}" for at, number in enumerate(stacks())]
        say(table + "\n".join(rows))
    elif arguments == ["filters"] and stacks():
        say("0:2047 TCP 48.0.0.1:80 0.0.0.0:0 lport_prenat=0 ACCELERATED (wild)")


def onload_mibdump(arguments: list[str]) -> None:
    flags = 0 if CASE == "no abilities" else 0x8004A
    say(f"hwport[000]: flags=00000003 nic_flags={flags:016x} xdp/id:12 ifindex=7")


def onload_tool(arguments: list[str]) -> None:
    if CASE == "modules in use" or stacks():
        say("onload: module is in use", 1)
    MODULE.rmdir()


def listener(port: int, came: int, accepted: int, most: int) -> dict[str, object]:
    """As orm_json has one: its accept queue is what came less what was accepted, in 32 bits."""
    told = {"acceptq_max": most, "acceptq_n_in": came, "acceptq_n_out": accepted}
    return {"tcp_listen_sockets": {"s": {"cp": {"laddr": "48.0.0.1", "lport": port}}, **told}}


def orm_json(arguments: list[str]) -> None:
    if arguments == ["sockets"]:
        told = json.loads((HOME / "listeners").read_text())
        sockets = {
            "tcp_listen": {str(at): listener(*each) for at, each in enumerate(told)},
            "tcp": {"9": {"tcp_state": {"s": {"cp": {"lport": 80}}}}},
        }
        entries = [{"0": {"stack": sockets}}] if stacks() else []
        say(json.dumps({"onload_version": "0", "json": entries}))
    moved = json.loads((HOME / "counters").read_text())
    entries = [
        {
            str(at): {
                "stats": {name: moved[min(at, len(moved) - 1)].get(name, 0) for name in COUNTERS}
            }
        }
        for at, _ in enumerate([] if CASE == "no stack" else stacks())
    ]
    say(json.dumps({"onload_version": "0", "json": entries}))


def ethtool(arguments: list[str]) -> None:
    say(f"driver: {'sfc' if CASE == 'own driver' else 'veth'}\nversion: 1.0")


def ls(arguments: list[str]) -> None:
    say("rx-0\nrx-1\ntx-0" if CASE == "two queues" else "rx-0\ntx-0")


def cat(arguments: list[str]) -> None:
    say((HOME / "snmp").read_text() if arguments[0].endswith("snmp") else "7")


def tee(arguments: list[str]) -> None:
    said = sys.stdin.read()
    record("register", [said])
    Path(arguments[0]).write_text(said)


def dmesg(arguments: list[str]) -> None:
    say((HOME / "dmesg").read_text().rstrip("\n"))


if __name__ == "__main__":
    called = Path(sys.argv[0]).name
    noted = {"EF_NO_FAIL": os.environ.get("EF_NO_FAIL", "")} if called == "onload" else {}
    record(called, sys.argv[1:], **noted)
    globals()[called](sys.argv[1:])
