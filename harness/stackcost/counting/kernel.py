"""A kernel for counting guests, and where it is kept: out of a package of Debian, which is not
installed, or the user's own. It needs no root.
"""

import hashlib
import lzma
import os
import re
import shutil
import subprocess
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

import pyarrow

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.entries import is_version
from stackcost.host.namespace import find_program

MODULES_OF = (
    *("kernel/net/", "kernel/fs/", "kernel/lib/", "kernel/crypto/", "kernel/drivers/virtio/"),
    *("kernel/drivers/net/veth", "kernel/drivers/char/virtio_console"),
)
# What a module asks the kernel for by another name while it is inserted (its softdep).
SOUGHT = {"libcrc32c": "crc32c_generic"}
LAYOUT = 1  # raise it when what is kept changes
PACKAGE = "linux-image-"
# Documentation/arch/x86/boot.rst, "The Real-Mode Kernel Header"
SETUP_SECTORS, PAYLOAD_OFFSET, PAYLOAD_LENGTH = 0x1F1, 0x248, 0x24C
MAGIC, MAGIC_OFFSET, RELEASE_OFFSET = b"HdrS", 0x202, 0x20E
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


def get_kernel(kernel: str) -> Kernel:
    """A kernel, made ready once: the newest one of a version in this machine's archive, or of a
    file, a package of Debian (.deb) or an image (bzImage). StackcostError if that fails.
    """
    if is_version(kernel):
        package = _package(kernel)
        folder = cache_folder() / f"{package}-{LAYOUT}"
        _make_once(folder, lambda place: _download(package, place))
        return Kernel(package.removeprefix(PACKAGE), folder)
    content = Path(kernel).read_bytes()
    folder = cache_folder() / f"{hashlib.sha256(content).hexdigest()[:12]}-{LAYOUT}"
    _make_once(folder, lambda place: _unpack(Path(kernel), place))
    return Kernel((folder / "release").read_text(), folder)


def _package(version: str) -> str:
    kept = (path.name for path in cache_folder().glob(f"{PACKAGE}{version}.*-{LAYOUT}"))
    if known := newest(version, [name.removesuffix(f"-{LAYOUT}") for name in kept]):
        return known
    offered = _output([find_program("apt-cache"), "pkgnames", PACKAGE]).split()
    if package := newest(version, offered):
        return package
    every = {found[0] for name in offered if (found := re.search(r"\d+\.\d+", name))}
    versions = [each for each in sorted(every, key=_numbers) if newest(each, offered)]
    there = f"has {', '.join(versions)}" if versions else "has none; run: apt-get update"
    raise StackcostError(
        f"this machine's archive has no kernel {version} for counting",
        f"it {there}; or give the file of a package (.deb) or of an image (bzImage)",
    )


def newest(version: str, packages: Iterable[str]) -> str:
    """The newest package with a kernel of this version; empty: there is none."""
    one = re.compile(rf"{PACKAGE}{re.escape(version)}\.(?!.*-(cloud|rt)-).+-amd64")
    return max((name for name in packages if one.fullmatch(name)), key=_numbers, default="")


def _numbers(name: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", name)]


def _make_once(folder: Path, make: Callable[[Path], None]) -> None:
    if folder.is_dir():
        return
    unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(unfinished, ignore_errors=True)
    (unfinished / "modules").mkdir(parents=True)
    try:
        make(unfinished)
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _download(package: str, folder: Path) -> None:
    told = _output([find_program("apt-cache"), "depends", package])
    packages = [package, *parts_of(package.removeprefix(PACKAGE), told)]
    _output([find_program("apt-get"), "download", *packages], folder)
    for archive in folder.glob("*.deb"):
        _unpack_package(archive, folder)
        archive.unlink()


def parts_of(release: str, told: str) -> list[str]:
    """The packages with the image and the modules in what `apt-cache depends` told; none until
    6.18, where both are in linux-image-*.
    """
    return re.findall(rf"Depends: (linux-(?:binary|modules)-{re.escape(release)})$", told, re.M)


def _unpack(file: Path, folder: Path) -> None:
    if file.suffix != ".deb":
        _keep_image(file.read_bytes(), folder)
        return
    _unpack_package(file, folder)
    if not (folder / "vmlinux").exists():
        raise StackcostError(
            f"there is no vmlinuz in {file}", "give linux-image-*.deb or linux-binary-*.deb"
        )


def _unpack_package(file: Path, folder: Path) -> None:
    command = [find_program("dpkg-deb"), "--fsys-tarfile", str(file)]
    with (
        suppress(tarfile.ReadError),
        subprocess.Popen(command, stdout=subprocess.PIPE) as unpacking,
        tarfile.open(fileobj=unpacking.stdout, mode="r|") as tree,
    ):
        _keep(tree, folder)


def _keep(tree: tarfile.TarFile, folder: Path) -> None:
    for name, content in _files_of(tree):
        path = PurePosixPath(name)
        if path.name.startswith("vmlinuz"):
            _keep_image(content, folder)
        elif ".ko" in path.suffixes and any(part in name for part in MODULES_OF):
            module = lzma.decompress(content) if path.suffix == ".xz" else content
            (folder / "modules" / path.name.removesuffix(".xz")).write_bytes(module)


def _keep_image(image: bytes, folder: Path) -> None:
    if image[MAGIC_OFFSET : MAGIC_OFFSET + len(MAGIC)] != MAGIC:
        raise StackcostError("the kernel's file is no bzImage", "give arch/x86/boot/bzImage")
    place = int.from_bytes(image[RELEASE_OFFSET : RELEASE_OFFSET + 2], "little") + SECTOR
    (folder / "release").write_text(re.split(rb"[ \0]", image[place:], maxsplit=1)[0].decode())
    (folder / "vmlinux").write_bytes(uncompressed(image))


def _files_of(tree: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    for entry in tree:
        file = tree.extractfile(entry) if entry.isfile() else None
        if file and ("/kernel/" in entry.name or "/vmlinuz" in entry.name):
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
    if payload.startswith(b"\x1f\x8b"):
        return zlib.decompress(payload, zlib.MAX_WBITS | 16)
    raise StackcostError(
        "the kernel's image is not compressed by xz, zstd or gzip",
        "build it with CONFIG_KERNEL_ZSTD=y",
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
