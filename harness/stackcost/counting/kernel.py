"""A kernel for counting guests: taken out of a Debian package, without installing it and without
root, and kept.
"""

import lzma
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

import pyarrow

from stackcost.contracts.errors import StackcostError
from stackcost.host.namespace import find_program

VERSIONS = ("6.1", "6.12")
MODULES_OF = (
    *("kernel/net/", "kernel/fs/", "kernel/lib/", "kernel/crypto/", "kernel/drivers/virtio/"),
    *("kernel/drivers/net/veth", "kernel/drivers/char/virtio_console"),
)
# What a module asks the kernel for by another name while it is inserted (its softdep).
SOUGHT = {"libcrc32c": "crc32c_generic"}
LAYOUT = 1  # raise it when what is kept changes
# Documentation/arch/x86/boot.rst, "The Real-Mode Kernel Header"
SETUP_SECTORS, PAYLOAD_OFFSET, PAYLOAD_LENGTH = 0x1F1, 0x248, 0x24C
SECTOR = 512


@dataclass(frozen=True)
class Kernel:
    """A kernel that is kept. `folder`: its image, not compressed, and its modules.

    `files`: a folder of the user with more modules, where `modprobe` would look below /.
    """

    release: str
    folder: Path
    files: Path | None = None

    @property
    def image(self) -> Path:
        """The ELF file that QEMU boots (PVH)."""
        return self.folder / "vmlinux"

    def modules(self, names: Iterable[str]) -> list[Path]:
        """The files of these modules and of all that they need, in the order to insert them.

        A name that is built into the kernel, or is not kept, is left out.
        """
        ordered: dict[str, Path] = {}
        for name in names:
            self._add(name, ordered)
        return list(ordered.values())

    def _add(self, name: str, ordered: dict[str, Path]) -> None:
        path = self._files.get(name.replace("-", "_"))
        if path is None or name.replace("-", "_") in ordered:
            return
        self._add(SOUGHT.get(name, ""), ordered)
        found = re.search(rb"\0depends=([\w,-]*)\0", path.read_bytes())
        for needed in found[1].decode().split(",") if found and found[1] else []:
            self._add(needed, ordered)
        ordered[name.replace("-", "_")] = path

    def require(self, name: str) -> None:
        """StackcostError unless it has this module."""
        if name in self._files:
            return
        where = self.files or "this machine"
        raise StackcostError(
            f"there is no module {name} for the counting guest's kernel {self.release} in {where}",
            f"build it with the package linux-headers-{self.release}, and install it into a "
            f"folder (FOLDER/lib/modules/{self.release}) that counted.files names",
        )

    @cached_property
    def _files(self) -> dict[str, Path]:
        own = self.files.glob(f"**/lib/modules/{self.release}/**/*.ko") if self.files else ()
        found = [*self.folder.glob("modules/*.ko"), *own]
        return {path.stem.replace("-", "_"): path for path in found}


def cache_folder() -> Path:
    """Where kernels are kept, of this user."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "stackcost" / "counting"


def get_kernel(version: str) -> Kernel:
    """A kernel of `VERSIONS`, downloaded once; StackcostError if that fails."""
    if version not in VERSIONS:
        raise StackcostError(
            f"there is no kernel {version} for counting", f"choose one of {', '.join(VERSIONS)}"
        )
    package = _package(version)
    folder = cache_folder() / f"{package}-{LAYOUT}"
    if not folder.is_dir():
        _make(package, folder)
    return Kernel(package.removeprefix("linux-image-"), folder)


def _package(version: str) -> str:
    """The package with the kernel itself, which the one for its version depends on."""
    known = sorted(cache_folder().glob(f"linux-image-{version}.*-{LAYOUT}"))
    if known:
        return known[-1].name.removesuffix(f"-{LAYOUT}")
    # The one for the release of Debian has another version of the kernel in each.
    asked = f"linux-image-{version}-amd64", "linux-image-amd64"
    package = package_of(version, _output([find_program("apt-cache"), "depends", *asked]))
    if not package:
        others = " or ".join(each for each in VERSIONS if each != version)
        raise StackcostError(
            f"this machine's archive has no kernel {version} for counting",
            f"run: apt-get update; or choose counted.kernel: {others}",
        )
    return package


def package_of(version: str, told: str) -> str:
    """The kernel's own package in what `apt-cache depends` told; empty: none of this version."""
    found = re.search(rf"Depends: (linux-image-{re.escape(version)}\.\S*)", told)
    return found[1] if found else ""


def _make(package: str, folder: Path) -> None:
    unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(unfinished, ignore_errors=True)
    (unfinished / "modules").mkdir(parents=True)
    try:
        _output([find_program("apt-get"), "download", package], unfinished)
        (archive,) = unfinished.glob("*.deb")
        with (
            subprocess.Popen(
                [find_program("dpkg-deb"), "--fsys-tarfile", str(archive)], stdout=subprocess.PIPE
            ) as unpacking,
            tarfile.open(fileobj=unpacking.stdout, mode="r|") as tree,
        ):
            _keep(tree, unfinished)
        archive.unlink()
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _keep(tree: tarfile.TarFile, folder: Path) -> None:
    for name, content in _files_of(tree):
        path = PurePosixPath(name)
        if path.name.startswith("vmlinuz-"):
            (folder / "vmlinux").write_bytes(uncompressed(content))
        elif ".ko" in path.suffixes and any(part in name for part in MODULES_OF):
            module = lzma.decompress(content) if path.suffix == ".xz" else content
            (folder / "modules" / path.name.removesuffix(".xz")).write_bytes(module)


def _files_of(tree: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    for entry in tree:
        file = tree.extractfile(entry) if entry.isfile() else None
        if file and ("/kernel/" in entry.name or "/vmlinuz-" in entry.name):
            yield entry.name, file.read()


def uncompressed(image: bytes) -> bytes:
    """The ELF file in a bzImage. An emulated processor takes half a minute to unpack it."""
    start = (image[SETUP_SECTORS] + 1) * SECTOR + _number(image, PAYLOAD_OFFSET)
    payload = image[start : start + _number(image, PAYLOAD_LENGTH)]
    if payload.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        size = int.from_bytes(payload[-4:], "little")
        return bytes(pyarrow.decompress(payload[:-4], size, codec="zstd"))
    raise StackcostError(
        "the kernel's image is neither compressed by xz nor by zstd", "choose a kernel of Debian"
    )


def _number(image: bytes, place: int) -> int:
    return int.from_bytes(image[place : place + 4], "little")


def _output(command: list[str], folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise StackcostError(
            f"`{' '.join(command)}` failed: {done.stderr.strip()}",
            "check that apt-get update works on this machine",
        )
    return done.stdout
