"""The disk of guests: Debian with what a host of a test bed needs, made once and kept.

Debian's own tools make it (mmdebstrap, mke2fs), from the machine's usual archive. The Python
packages are copied from this environment, so that both ends of a line have the same versions. The
suite itself is not in it: a guest gets it each time that it starts
(`stackcost.bed.guest_start`).
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable
from functools import cache, partial
from importlib import metadata
from pathlib import Path

import psutil

from stackcost.bed.guest_machine import KERNELS, SSH_ADDRESS, SSH_INTERFACE, Files
from stackcost.contracts.errors import StackcostError
from stackcost.host.debian import PACKAGES, install_command
from stackcost.host.namespace import find_program
from stackcost.host.state import StateFile
from stackcost.host.undo import UndoStep, undo

RELEASE = "bookworm"
PYTHON = "python3.11"  # of that release
PREFIX = "/opt/stackcost"  # of the guest's virtual environment
SITE = f"{PREFIX}/lib/{PYTHON}/site-packages"
KERNEL_PACKAGES = {"6.1": "linux-image-amd64", "6.12": "linux-image-6.12-amd64"}
# An engine that was built in a checkout uses DPDK's shared libraries.
ENGINE_LIBRARIES = ("librte-meta-all", "libfmt9", "libyaml-cpp0.7")
SYSTEM = ("systemd-sysv", "udev", "kmod", "openssh-server", "python3", "pciutils")
DISK_GB = 8  # sparse
NEEDED_GB = 9  # while it is made
# The initial memory disk has only what finds the root: unpacking all modules takes an emulated
# processor a minute.
MODULES = (
    'mkdir -p "$1/etc/initramfs-tools/conf.d" && '
    'echo MODULES=list >"$1/etc/initramfs-tools/conf.d/guest" && '
    'printf "virtio_pci\\nvirtio_blk\\next4\\n" >"$1/etc/initramfs-tools/modules"'
)
LAYOUT = 1  # raise it when the code below makes another image of the same packages
SERVICES = ("ssh", "systemd-networkd")  # all that a guest starts
MAKING = StateFile("guest-images.json", dict[str, int], {})


def files_of(images: Path, kernel: str, log: Path) -> Files:
    """The files of a guest with this kernel; the image has to be there."""
    folder = folder_of(images)
    return Files(
        folder / f"vmlinuz-{kernel}", folder / f"initrd-{kernel}", folder / "disk.img", log
    )


def folder_of(images: Path) -> Path:
    """The folder of the image that this suite wants; another recipe has another folder."""
    return images / f"debian-{_recipe()}"


def key_of(images: Path) -> Path:
    """The private key of root in the guests, which is used for nothing else."""
    return folder_of(images) / "key"


def known_hosts_of(images: Path) -> Path:
    """The file with the host key of the guests."""
    return folder_of(images) / "known_hosts"


def make_image(images: Path, say: Callable[[str], None]) -> None:
    """Make the image unless it is there; takes some minutes and the Debian archive.

    StackcostError if a program, the Python of the guest or room on the disk is missing, or if
    Debian's tools fail.
    """
    folder = folder_of(images)
    if folder.is_dir():
        return
    _check_python()
    for program in ("mmdebstrap", "mke2fs", "ssh-keygen", "unshare"):
        find_program(program, install_command([PROGRAM_PACKAGES[program]]))
    images.mkdir(parents=True, exist_ok=True)
    if (free := shutil.disk_usage(images).free) < NEEDED_GB << 30:
        raise StackcostError(
            f"{images} has {free / (1 << 30):.1f} GB free, but an image needs {NEEDED_GB} GB",
            "name a folder of another disk: --images",
        )
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    MAKING.write(MAKING.read() | {str(unfinished): os.getpid()})
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        _fill(unfinished, say)
        unfinished.rename(folder)
    finally:
        _remove(str(unfinished))


PROGRAM_PACKAGES = {
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "ssh-keygen": "openssh-client",
    "ssh": "openssh-client",
    "unshare": "util-linux",
    "qemu-system-x86_64": "qemu-system-x86",
}


def remove_abandoned() -> list[UndoStep]:
    """Remove images that a killed command did not finish."""
    return [_remove(folder) for folder, maker in MAKING.read().items() if not _lives(maker)]


def _lives(process: int) -> bool:
    return process != os.getpid() and psutil.pid_exists(process)


def _remove(folder: str) -> UndoStep:
    step = undo(
        f"remove {folder}",
        partial(shutil.rmtree, folder),
        lambda: "it is still there" if Path(folder).exists() else "",
        "it uses disk space; figures do not depend on it",
    )
    if step.done:
        MAKING.write({each: maker for each, maker in MAKING.read().items() if each != folder})
    return step


@cache
def _recipe() -> str:
    """A hash of what is in the image. The Debian packages are those of the day that it is made."""
    versions = {name: metadata.version(name) for name in sorted(_python_packages())}
    recipe = [LAYOUT, _debian_packages(), MODULES, SERVICES, versions]
    return hashlib.sha256(json.dumps(recipe).encode()).hexdigest()[:8]


def _debian_packages() -> list[str]:
    return [*SYSTEM, *KERNEL_PACKAGES.values(), *ENGINE_LIBRARIES, *PACKAGES]


def _check_python() -> None:
    here = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if here != PYTHON:
        raise StackcostError(
            f"guests have {PYTHON} and get the packages of this environment, which has {here}",
            f"install stackcost in a virtual environment of {PYTHON}",
        )


def _fill(folder: Path, say: Callable[[str], None]) -> None:
    tree, log = folder / "tree", folder / "mmdebstrap.log"
    say("installing Debian with both kernels into a folder, some minutes")
    packages = ",".join(_debian_packages())
    command = ["mmdebstrap", "--mode=root", "--variant=minbase", f"--include={packages}"]
    # It and all that it starts end with this process, and so do its mounts.
    enter = ["setpriv", "--pdeathsig", "KILL", "--", "unshare", "--pid", "--mount-proc"]
    enter += ["--fork", "--kill-child"]
    command = [*enter, *command, f"--essential-hook={MODULES}", RELEASE, str(tree)]
    _run(command, log)
    _configure(tree, folder)
    say("copying the Python packages")
    _copy_python(tree)
    _take_kernels(tree, folder)
    say("writing the disk")
    disk = ["mke2fs", "-q", "-t", "ext4", "-d", str(tree), str(folder / "disk.img"), f"{DISK_GB}G"]
    _run([*enter, *disk], log)
    shutil.rmtree(tree)


def _run(command: list[str], log: Path) -> None:
    with log.open("ab") as output:
        # The standard input of a terminal would let it ask.
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    if done.returncode:
        said = " ".join(log.read_text(errors="replace").split("\n")[-8:])
        raise StackcostError(
            f"the image of guests was not made, {command[command.index('--kill-child') + 1]} "
            f"failed: {said}",
            "check that apt-get update works on this machine",
        )


def _configure(tree: Path, folder: Path) -> None:
    """The network for SSH, the keys, and no service but two."""
    for key in ("key", "host_key"):
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "stackcost guest"]
        subprocess.run([*make, "-f", folder / key], check=True)
    # No address of the file's own: the port of a guest differs each time.
    (folder / "known_hosts").write_text(f"* {(folder / 'host_key.pub').read_text()}")
    network = f"[Match]\nName={SSH_INTERFACE}\n[Network]\nAddress={SSH_ADDRESS}\n"
    network += "LinkLocalAddressing=no\nIPv6AcceptRA=no\n"
    texts = {
        "etc/hostname": "guest\n",
        "etc/hosts": "127.0.0.1 localhost guest\n",
        # Without one systemd takes this for the first boot, and enables every service.
        "etc/machine-id": f"{uuid.uuid4().hex}\n",
        "etc/systemd/network/ssh.network": network,
        "root/.ssh/authorized_keys": (folder / "key.pub").read_text(),
        "etc/ssh/ssh_host_ed25519_key": (folder / "host_key").read_text(),
        "etc/ssh/ssh_host_ed25519_key.pub": (folder / "host_key.pub").read_text(),
    }
    for old in (tree / "etc/ssh").glob("ssh_host_*"):
        old.unlink()
    for path, text in texts.items():
        file = tree / path
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o600 if "key" in path and not path.endswith(".pub") else 0o644)
    (tree / "root/.ssh").chmod(0o700)
    _enable_only(tree)


def _enable_only(tree: Path) -> None:
    """Debian enables what it installs: nginx would run before a bed is made."""
    units = tree / "etc/systemd/system"
    for wanted in units.glob("*.wants"):
        shutil.rmtree(wanted)
    for start in tree.glob("etc/rc[2-5].d/S*"):
        start.unlink()
    wants = units / "multi-user.target.wants"
    wants.mkdir()
    for service in SERVICES:
        (wants / f"{service}.service").symlink_to(f"/lib/systemd/system/{service}.service")
    (units / "default.target").unlink(missing_ok=True)
    (units / "default.target").symlink_to("/lib/systemd/system/multi-user.target")


def _copy_python(tree: Path) -> None:
    """A virtual environment with the packages that the suite needs, compiled as here."""
    root = tree / PREFIX[1:]
    site = tree / SITE[1:]
    site.mkdir(parents=True)
    (root / "bin").mkdir()
    (root / "bin/python").symlink_to(f"/usr/bin/{PYTHON}")
    (root / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
    program = root / "bin/stackcost"
    program.write_text(f"#!{PREFIX}/bin/python -P\nfrom stackcost.cli import main\n\nmain()\n")
    program.chmod(0o755)
    for name in _python_packages() - {"stackcost"}:
        for file in metadata.files(name) or []:
            if ".." in file.parts:
                continue  # a program of the environment
            source, target = Path(str(file.locate())), site / file
            if source.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)


def _python_packages() -> set[str]:
    """The distributions that stackcost needs here, and those that they need."""
    found, left = set[str](), ["stackcost"]
    while left:
        name = left.pop()
        if name in found:
            continue
        try:
            needed = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # for another Python or system
        found.add(name)
        left += [
            re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")
            for requirement in needed
            if "extra ==" not in requirement
        ]
    return found


def _take_kernels(tree: Path, folder: Path) -> None:
    """Kernel and initial memory disk of each version; QEMU reads them from here."""
    for version in KERNELS:
        (kernel,) = (tree / "boot").glob(f"vmlinuz-{version}.*")
        shutil.copy(kernel, folder / f"vmlinuz-{version}")
        initrd = kernel.with_name(kernel.name.replace("vmlinuz", "initrd.img"))
        shutil.copy(initrd, folder / f"initrd-{version}")
