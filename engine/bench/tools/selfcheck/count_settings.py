"""What kernels, mitigations and settings cost a connection, counted: a table in Markdown.

python -m engine.bench.tools.selfcheck.count_settings [EXPERIMENT]. Each kernel and command
line is a boot of a guest; settings are made and undone in it, one after the other.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from stackcost.contracts.wiring import (
    LOAD_INTERFACE,
    LOAD_NAMESPACE,
    SERVER_INTERFACE,
    SERVER_NAMESPACE,
)
from stackcost.counting.session import CountingSession
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import experiment_file, read_experiment
from stackcost.experiment.schema import Counted

from .counted import connections, counting

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


SETTINGS = (
    _sysctl("net.ipv4.tcp_congestion_control", "bbr", "cubic"),
    _sysctl("net.ipv4.tcp_timestamps", "0", "1"),
    _feature("TSO off at the server", SERVER_NAMESPACE, SERVER_INTERFACE, "tso"),
    _feature("transmit checksums off at the generator", LOAD_NAMESPACE, LOAD_INTERFACE, "tx"),
    _nft("nftables, 1 rule", "add rule ip t c ip saddr 203.0.113.1 drop"),
    _nft(
        "nftables, 100 rules",
        "".join(f"add rule ip t c ip saddr 203.0.113.{n} drop; " for n in range(1, 101)),
    ),
    _nft("nftables, connection tracking", "add rule ip t c ct state invalid drop"),
)
BOOTS = (
    ("6.1", "", SETTINGS),
    ("6.12", "", SETTINGS),
    ("6.1", "mitigations=off", ()),
    ("6.12", "mitigations=off", ()),
    ("6.1", "init_on_alloc=0", ()),
)


def counted_boot(
    file: Path, kernel: str, command_line: str, settings: tuple[Setting, ...]
) -> Iterator[tuple[str, float, float]]:
    """Words, instructions and bytes by string moves of a connection, for each row of a boot."""
    plan = read_experiment(file).as_counted()
    told = {"kernel": kernel, "command_line": command_line, "modules": MODULES}
    part = Counted.model_validate(told)
    (variant, *_) = variants(plan.model_copy(update={"counted": part}))
    with TemporaryDirectory() as folder, counting(variant, Path(folder)) as session:
        yield _row(command_line or "as it is", session)
        for setting in settings:
            session.guest.line.run(setting.make)
            yield _row(setting.words, session)
            session.guest.line.run(setting.undo)


def _row(words: str, session: CountingSession) -> tuple[str, float, float]:
    seen = connections(session)
    return words, seen.instructions, seen.string_bytes


def main() -> None:
    """Print the table, a row when it is counted."""
    file = experiment_file(Path(sys.argv[1] if len(sys.argv) > 1 else "nginx_kernel"))
    print("| kernel | setting | instructions | more | bytes by string moves |")
    print("|---|---|---|---|---|", flush=True)
    first: dict[str, float] = {}
    for kernel, command_line, settings in BOOTS:
        for words, count, moved in counted_boot(file, kernel, command_line, settings):
            before = first.setdefault(kernel, count)
            print(
                f"| {kernel} | {words} | {count:,.0f} | {count / before - 1:+.1%} | {moved:,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
