"""What kernels, mitigations and settings cost a connection, counted: a table in Markdown.

python -m engine.bench.tools.selfcheck.count_settings [KERNEL ...]. A kernel is a version or a file,
as of `stackcost run --kernel`. Each command line is a boot of a guest, "as it is" two; settings are
made and undone in the first, one after the other.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from stackcost.contracts.wiring import (
    LOAD_INTERFACE,
    LOAD_NAMESPACE,
    SERVER_INTERFACE,
    SERVER_NAMESPACE,
)
from stackcost.counting.kernel import get_kernel
from stackcost.experiment.counted_section import Counted
from stackcost.experiment.entries import known_kernel
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import experiment_file, read_experiment

from .counted import Connection, connections, counting

MODULES = ["nf_tables", "nft_ct", "tcp_bbr"]
SERVER = f"ip netns exec {SERVER_NAMESPACE}"


class Setting(NamedTuple):
    """A setting in words, the commands that make it, and those that undo it."""

    words: str
    make: str
    undo: str


def _sysctl(name: str, value: str, before: str) -> Setting:
    return Setting(f"{name}={value}", f"{SERVER} sysctl -qw {name}={value}", _set(name, before))


def _set(name: str, value: str) -> str:
    return f"{SERVER} sysctl -qw {name}={value}"


def _nft(words: str, rules: str) -> Setting:
    chain = "add table ip t; add chain ip t c { type filter hook input priority 0; };"
    return Setting(
        words,
        f"{SERVER} nft -f - <<'END'\n{chain} {rules}\nEND\n",
        f"{SERVER} nft flush ruleset",
    )


def _feature(words: str, namespace: str, interface: str, name: str) -> Setting:
    command = f"ip netns exec {namespace} ethtool -K {interface} {name}"
    return Setting(words, f"{command} off", f"{command} on")


# nginx reads its configuration anew; its old worker ends when it has no connection any more.
RELOAD = "kill -HUP $(pgrep -o nginx); sleep 1"
CONFIGURATION = "/proc/$(pgrep -o nginx)/cwd/nginx.conf"
GROUPS = "/sys/fs/cgroup"
MOVE = "for process in $(pgrep nginx); do echo $process >{}/cgroup.procs; done"
NO_GRO = "GRO off at the server, with the receive work that its thread does no more"
SEEN = 0.01  # of the bytes by string moves: a smaller difference is not told
SETTINGS = (
    _sysctl("net.ipv4.tcp_congestion_control", "bbr", "cubic"),
    _sysctl("net.ipv4.tcp_timestamps", "0", "1"),
    _feature("TSO off at the server", SERVER_NAMESPACE, SERVER_INTERFACE, "tso"),
    _feature("transmit checksums off at the generator", LOAD_NAMESPACE, LOAD_INTERFACE, "tx"),
    Setting(
        "sendfile off",
        f"sed -i 's/sendfile on/sendfile off/' {CONFIGURATION}; {RELOAD}",
        f"sed -i 's/sendfile off/sendfile on/' {CONFIGURATION}; {RELOAD}",
    ),
    _nft("nftables, 1 rule", "add rule ip t c ip saddr 203.0.113.1 drop"),
    _nft(
        "nftables, 100 rules",
        "".join(f"add rule ip t c ip saddr 203.0.113.{n} drop; " for n in range(1, 101)),
    ),
    _nft("nftables, connection tracking", "add rule ip t c ct state invalid drop"),
    Setting(
        "nginx in a cgroup that accounts its memory",
        f"echo +memory >{GROUPS}/cgroup.subtree_control; mkdir {GROUPS}/server; "
        + MOVE.format(f"{GROUPS}/server"),
        f"{MOVE.format(GROUPS)}; rmdir {GROUPS}/server",
    ),
    # The last one: its undoing would have to make the thread that polls anew.
    Setting(NO_GRO, f"{SERVER} ethtool -K {SERVER_INTERFACE} gro off", ""),
)
BOOTS = (
    ("", SETTINGS),
    ("", ()),
    ("mitigations=off", ()),
    ("init_on_alloc=0", ()),
)


def counted_boot(
    kernel: str, command_line: str, settings: tuple[Setting, ...]
) -> Iterator[tuple[str, Connection]]:
    """What a connection costs in each row of a boot, with the row's words."""
    plan = read_experiment(experiment_file(Path("nginx_kernel"))).as_counted()
    told = {"kernel": kernel, "command_line": command_line, "modules": MODULES}
    part = Counted.model_validate(told)
    (variant, *_) = variants(plan.model_copy(update={"counted": part}))
    with TemporaryDirectory() as folder, counting(variant, Path(folder)) as session:
        line = session.guest.line
        nginx = re.findall(r"nginx/(\S+)", line.run("nginx -v 2>&1"))[0]
        words = command_line or ("as it is" if settings else "as it is, in another boot")
        yield f"{words} (nginx {nginx})" if settings else words, connections(session)
        for setting in settings:
            line.run(setting.make)
            yield setting.words, connections(session)
            line.run(setting.undo)


def counted_kernel(kernel: str) -> dict[str, Connection]:
    """What a connection costs on a kernel, by setting; the first one is as it is."""
    found: dict[str, Connection] = {}
    for command_line, settings in BOOTS:
        for words, seen in counted_boot(kernel, command_line, settings):
            found[words] = seen
            print(f"  {kernel}, {words}: {_cell(words, found)}", file=sys.stderr, flush=True)
    return found


def table(found: Mapping[str, Mapping[str, Connection]]) -> Iterator[str]:
    """Lines of Markdown: a row for each setting, a column for each kernel."""
    yield f"| setting | {' | '.join(found)} |"
    yield f"|---|{'---|' * len(found)}"
    for words in dict.fromkeys(words for column in found.values() for words in column):
        yield f"| {words} | {' | '.join(_cell(words, column) for column in found.values())} |"


def _cell(words: str, column: Mapping[str, Connection]) -> str:
    first, seen = next(iter(column.values())), column.get(words)
    if seen is None:
        return ""
    if seen is first:
        return f"{first.instructions:,.0f}; {first.string_bytes:,.0f} B"
    more = seen.instructions - first.instructions
    if words == NO_GRO:
        more += seen.receive - first.receive
    moved = seen.string_bytes - first.string_bytes
    bytes_more = f"; {moved:+,.0f} B" if abs(moved) > SEEN * first.string_bytes else ""
    return f"{more:+,.0f} ({more / first.instructions:+.1%}){bytes_more}"


def main() -> None:
    """Print the table; progress goes to standard error."""
    kernels = [known_kernel(each, Path()) for each in sys.argv[1:]] or ["6.1", "6.12"]
    for line in table({get_kernel(each).release: counted_kernel(each) for each in kernels}):
        print(line)


if __name__ == "__main__":
    main()
