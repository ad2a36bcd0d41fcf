"""Boots a counting guest: QEMU emulates one processor, whose clock is its count of instructions."""

import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from stackcost.contracts.errors import StackcostError
from stackcost.counting.counts import ONLOAD_WORK, RCU_CALLBACKS
from stackcost.counting.initial_disk import initial_disk
from stackcost.counting.kernel import Kernel
from stackcost.counting.line import CLEAR, WRITE, Line
from stackcost.counting.programs import agent_program, plugin_library
from stackcost.counting.symbols import Symbols
from stackcost.host.debian import install_command
from stackcost.host.namespace import find_program

QEMU = "qemu-system-x86_64"
SHARE = "/run/counting"  # in the guest
MEMORY_MB = 1024
ENDING_S = 1.0
BOOT_LIMIT_S = 900.0  # 15 s on an idle machine
# Work that the kernel does while another task runs, by the function that does it and the one that
# calls it: softirqs by vector. What a veth sends to the generator is received so; the server's own
# receive work is a thread's (threaded NAPI).
SECTIONS = (
    ("receive", "process_backlog", "__napi_poll"),
    ("timers", "run_timer_softirq", "handle_softirqs"),
    ("timers", "hrtimer_run_softirq", "handle_softirqs"),
    ("scheduler", "run_rebalance_domains", "handle_softirqs"),  # until 6.9
    ("scheduler", "sched_balance_softirq", "handle_softirqs"),
    ("RCU", "rcu_core_si", "handle_softirqs"),
    (RCU_CALLBACKS, "rcu_do_batch", "rcu_core"),
    (ONLOAD_WORK, "tcp_helper_do_non_atomic [onload]", "process_one_work"),
    (ONLOAD_WORK, "tcp_helper_purge_txq_work [onload]", "process_one_work"),
    (ONLOAD_WORK, "oo_inject_packets_work [onload]", "process_one_work"),
    # By time, and not by connection.
    ("Onload-timer", "linux_tcp_helper_periodic_timer [onload]", "process_one_work"),
)
INTERRUPTS = ("asm_sysvec_", "asm_common_interrupt")  # their entries; all end by
INTERRUPT_ENDS = "native_irq_return_iret"
# Links to folders, such as /lib, stay. Modules are in the initial disk.
PUT_OVER = """set -e
tar --create --directory {files} --exclude '*.ko' . |
  tar --extract --directory / --keep-directory-symlink --no-same-owner
ldconfig
"""
PROGRAM_BEGINS = "proc_exec_connector"
# Without them the guest could not find its files.
MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console", "veth")
# Addresses are the same at each start (nokaslr, norandmaps, no5lvl), the clock is the emulated
# processor's own, and nothing looks after processors that are silent for long.
COMMAND_LINE = (
    "console=ttyS0 quiet panic=-1 nokaslr norandmaps no5lvl tsc=reliable clocksource=tsc "
    "no_timer_check nowatchdog random.trust_cpu=on rcupdate.rcu_expedited=1"
)


@dataclass(frozen=True)
class CountingGuest:
    """A guest that runs. `line`: to its agent. `folder`: of the machine, in the guest SHARE.

    `command`: QEMU's. `functions`: of its kernel, as /proc/kallsyms tells them.
    `windows`: files of counts, in order.
    """

    line: Line
    folder: Path
    kernel: Kernel
    command: Sequence[str]
    functions: str
    windows: list[Path] = field(default_factory=list)

    @contextmanager
    def window(self) -> Iterator[Path]:
        """Counts what is executed inside; the file is there at the end."""
        path = self.folder / f"counts.{len(self.windows)}"  # as the plugin numbers them
        self.windows.append(path)
        self.line.mark(CLEAR)
        yield path
        self.line.mark(WRITE)


@contextmanager
def counting_guest(
    kernel: Kernel,
    folder: Path,
    say: Callable[[str], None],
    modules: Sequence[str] = (),
    command_line: str = "",
) -> Iterator[CountingGuest]:
    """A guest that has booted; QEMU ends with the body, and with this process.

    `folder`: for its files, empty. `modules`: of its kernel, beside those that it always has.
    `command_line`: more words for its kernel. StackcostError if it does not boot. With new modules
    a guest is booted once before, to learn where the kernel's functions are.
    """
    known = symbols_file(kernel, modules)
    if not known.exists():
        say("booting once to learn where this kernel's functions are")
        with (
            tempfile.TemporaryDirectory() as place,
            _booted(kernel, Path(place), modules, command_line) as guest,
        ):
            guest.line.run(f"cat /proc/kallsyms >{SHARE}/kallsyms; sync")
            shutil.copy(Path(place) / "kallsyms", known)
    say(f"booting kernel {kernel.release} in a guest that counts")
    with _booted(kernel, folder, modules, command_line, known.read_text()) as guest:
        if kernel.files:
            guest.line.run(PUT_OVER.format(files=quote(str(kernel.files))))
        yield guest


def symbols_file(kernel: Kernel, modules: Sequence[str]) -> Path:
    """What /proc/kallsyms told of this kernel with these modules, if it has been read."""
    found = kernel.modules([*MODULES, *modules])
    names = [path.name for path in found]
    built = [path.read_bytes() for path in found if kernel.folder not in path.parents]
    key = hashlib.sha256(b"".join([" ".join(names).encode(), *built])).hexdigest()[:8]
    return kernel.folder / f"kallsyms-{key}"


@contextmanager
def _booted(
    kernel: Kernel,
    folder: Path,
    modules: Sequence[str],
    command_line: str,
    functions: str = "",
) -> Iterator[CountingGuest]:
    """`functions`: of the kernel, as /proc/kallsyms tells them; empty: they are not known yet."""
    find_program(QEMU, install_command(["qemu-system-x86"]))
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    found = kernel.modules([*MODULES, *modules])
    disk = folder / "initial-disk"
    disk.write_bytes(initial_disk(agent_program().read_bytes(), found))
    (folder / "sections").write_text(sections_of(functions))
    # The path of a socket is 107 bytes long at most.
    with tempfile.TemporaryDirectory(prefix="sc-") as place:
        path = Path(place) / "line"
        command = _command(kernel, folder, disk, path, command_line)
        with (folder / "qemu.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            line = Line(_connected(path, process, folder))
            line.wait_until_ready(BOOT_LIMIT_S)
            yield CountingGuest(line, folder, kernel, command, functions)
        except StackcostError as error:
            with suppress(subprocess.TimeoutExpired):
                process.wait(ENDING_S)  # the line ends before it does
                raise StackcostError(f"{error.what}: {_said(folder)}", error.hint) from error
            raise
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            disk.unlink()


def _command(kernel: Kernel, folder: Path, disk: Path, line: Path, command_line: str) -> list[str]:
    share = "local,security_model=none,multidevs=remap"
    return [
        *("setpriv", "--pdeathsig", "KILL", "--", "nice", "-n", "1", QEMU),
        *("-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-smp", "1"),
        *("-cpu", "max", "-m", str(MEMORY_MB), "-machine", "pc,memory-backend=ram"),
        *("-object", f"memory-backend-memfd,id=ram,size={MEMORY_MB}M,share=on"),
        *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
        *("-serial", f"file:{folder / 'console.log'}"),
        *("-kernel", str(kernel.image), "-initrd", str(disk)),
        *("-append", f"{COMMAND_LINE} {command_line}".strip()),
        *("-virtfs", f"{share},path=/,mount_tag=machine,readonly=on"),
        *("-virtfs", f"{share},path={folder},mount_tag=run"),
        *("-device", "virtio-serial-pci", "-chardev", f"socket,id=line,path={line},server=on"),
        *("-device", "virtserialport,chardev=line,name=line"),
        *("-rtc", "base=2026-01-01,clock=vm"),
        *(
            "-plugin",
            f"{plugin_library()},counts={folder / 'counts'},sections={folder / 'sections'}",
        ),
    ]


def sections_of(functions: str) -> str:
    """The plugin's file: a line for each section whose functions are known (/proc/kallsyms)."""
    symbols, lines = Symbols(functions, {}), []
    for name, entry, caller in SECTIONS:
        begins, calls = symbols.bounds(entry), symbols.bounds(caller)
        if begins and calls:
            lines.append(f"{name} {begins[0]:x} {calls[0]:x} {calls[1]:x}\n")
    if ends := symbols.bounds(INTERRUPT_ENDS):
        for start in symbols.starts_of(INTERRUPTS):
            lines.append(f"interrupt {start:x} {ends[0]:x} {ends[0] + 1:x}\n")
    if begins := symbols.bounds(PROGRAM_BEGINS):
        lines.append(f"program {begins[0]:x} 0 0\n")
    return "".join(lines)


def _connected(path: Path, process: "subprocess.Popen[bytes]", folder: Path) -> socket.socket:
    """QEMU waits for it before it begins."""
    stream = socket.socket(socket.AF_UNIX)
    while process.poll() is None:
        with suppress(FileNotFoundError, ConnectionRefusedError):
            stream.connect(str(path))
            return stream
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
    raise StackcostError(f"QEMU ended with exit status {process.returncode}: {_said(folder)}")


def _said(folder: Path) -> str:
    """The end of what QEMU and the guest's console said."""
    texts = [
        (folder / name).read_text(errors="replace")[-1000:]
        for name in ("qemu.log", "console.log")
        if (folder / name).exists()
    ]
    return re.sub(r"\s+", " ", " ".join(texts)).strip() or "no message"
