"""A kernel's image is unpacked, its modules are put in order, its initial disk is made."""

import gzip
import lzma
import struct
import subprocess
from pathlib import Path

import pyarrow
import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.counting.guest import symbols_file
from stackcost.counting.initial_disk import initial_disk
from stackcost.counting.kernel import Kernel, get_kernel, newest, parts_of, uncompressed

ELF = b"\x7fELF" + bytes(10_000)


def image(payload: bytes, release: bytes = b"") -> bytes:
    """A bzImage of two sectors of set-up and a payload."""
    head = bytearray(3 * 512)
    head[0x1F1] = 2
    head[0x202:0x206] = b"HdrS"
    head[0x20E:0x210] = struct.pack("<H", 0x100)  # from 0x200 on
    head[0x300 : 0x300 + len(release) + 1] = release + b"\0"
    head[0x248:0x250] = struct.pack("<II", 0, len(payload))
    return bytes(head) + payload


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


LENGTH = struct.pack("<I", len(ELF))


@pytest.mark.parametrize(
    "packed",
    [
        lzma.compress(ELF) + LENGTH,
        bytes(pyarrow.compress(ELF, codec="zstd", asbytes=True)) + LENGTH,
        gzip.compress(ELF),
    ],
    ids=["xz", "zstd", "gzip"],
)
def test_an_image_is_unpacked(packed: bytes) -> None:
    assert uncompressed(image(packed)) == ELF


def test_another_image_is_refused() -> None:
    with pytest.raises(StackcostError, match="not compressed by"):
        uncompressed(image(b"lz4"))


def test_an_unknown_kernel_is_refused(cache: Path) -> None:
    with pytest.raises(StackcostError, match=r"no kernel 5\.4 for counting") as error:
        get_kernel("5.4")
    assert "(.deb)" in error.value.hint


def test_the_newest_kernel_of_a_version_is_taken_and_no_other_flavour() -> None:
    names = (
        *("linux-image-6.1.0-9-amd64", "linux-image-6.1.0-56-amd64", "linux-image-amd64"),
        *("linux-image-6.1.0-57-rt-amd64", "linux-image-6.1.0-57-cloud-amd64"),
        *("linux-image-6.1.0-57-amd64-dbg", "linux-image-6.12-amd64"),
        *("linux-image-6.12.99+deb13-amd64", "linux-image-6.12.117+deb13-amd64"),
    )
    assert newest("6.1", names) == "linux-image-6.1.0-56-amd64"
    assert newest("6.12", names) == "linux-image-6.12.117+deb13-amd64"
    assert newest("6.11", names) == ""


def test_a_newer_kernel_is_in_several_packages() -> None:
    release = "7.3.4+deb13-amd64"
    depends = (
        *("linux-binary-7.3.4+deb13-amd64", "linux-modules-7.3.4+deb13-amd64"),
        *("linux-base-7.3.4+deb13-amd64", "linux-modules-7.3.4+deb13-amd64-extra", "kmod"),
    )
    told = "".join(f"  Depends: {each}\n" for each in depends)
    assert parts_of(release, f"linux-image-{release}\n{told}") == [*depends[:2]]
    assert parts_of("6.1.0-56-amd64", "  Depends: kmod\n") == []


def test_a_kernel_that_is_kept_is_not_downloaded_again(cache: Path) -> None:
    kept = cache / "stackcost/counting/linux-image-0.1.0-2-amd64-1"
    kept.mkdir(parents=True)
    assert get_kernel("0.1") == Kernel("0.1.0-2-amd64", kept)


def test_an_image_of_the_users_is_unpacked_once(cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "bzImage"
    file.write_bytes(image(lzma.compress(ELF) + bytes(4), b"7.0.0-mine (me@here) #1"))
    kernel = get_kernel(str(file))
    assert kernel.release == "7.0.0-mine" and kernel.image.read_bytes() == ELF
    kernel.image.write_bytes(b"kept")
    assert get_kernel(str(file)).image.read_bytes() == b"kept"


def test_a_package_of_the_users_has_its_modules(cache: Path, tmp_path: Path) -> None:
    for name, content in {
        "boot/vmlinuz-7.0.0": image(lzma.compress(ELF) + bytes(4), b"7.0.0 (x)"),
        "lib/modules/7.0.0/kernel/net/veth.ko.xz": lzma.compress(b"module"),
        "DEBIAN/control": b"Package: k\nVersion: 1\nArchitecture: all\nMaintainer: m\n"
        b"Description: d\n",
    }.items():
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_bytes(content)
    file = tmp_path / "linux-image-7.0.0.deb"
    subprocess.run(["dpkg-deb", "--build", tmp_path / "tree", file], check=True)
    kernel = get_kernel(str(file))
    assert kernel.release == "7.0.0"
    assert [path.read_bytes() for path in kernel.modules(["veth"])] == [b"module"]


@pytest.mark.parametrize(("name", "what"), [("own.deb", "no vmlinuz"), ("own", "no bzImage")])
def test_a_file_that_is_no_kernel_is_refused_and_not_kept(
    cache: Path, tmp_path: Path, name: str, what: str
) -> None:
    (tmp_path / name).write_bytes(bytes(2000))
    with pytest.raises(StackcostError, match=what):
        get_kernel(str(tmp_path / name))
    assert not [*(cache / "stackcost/counting").iterdir()]


def test_a_module_comes_after_those_that_it_needs(tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    for name, needed in {"9p": "9pnet,netfs", "9pnet": "", "netfs": "", "veth": ""}.items():
        text = b"\0license=GPL\0depends=%s\0name=x\0" % needed.encode()
        (tmp_path / "modules" / f"{name}.ko").write_bytes(text)
    found = Kernel("6.1", tmp_path).modules(["9p", "built_in", "veth", "9pnet"])
    assert [path.stem for path in found] == ["9pnet", "netfs", "9p", "veth"]


def test_modules_of_the_users_folder_are_those_for_this_kernel(tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    for release, content in ("6.1", b"\0depends=\0 of 6.1"), ("6.2", b"\0depends=\0"):
        folder = tmp_path / "tree/lib/modules" / release / "extra"
        folder.mkdir(parents=True)
        (folder / "onload.ko").write_bytes(content)
    kernel = Kernel("6.1", tmp_path, tmp_path / "tree")
    kernel.require("onload")
    assert [path.read_bytes()[-3:] for path in kernel.modules(["onload"])] == [b"6.1"]


def test_a_module_that_is_not_there_is_asked_for_by_the_kernels_release(tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    with pytest.raises(StackcostError, match=r"no module onload .* 6\.1\.0-56 in .*/tree") as error:
        Kernel("6.1.0-56", tmp_path, tmp_path / "tree").require("onload")
    assert "linux-headers-6.1.0-56" in error.value.hint


def test_functions_are_learned_again_for_modules_that_were_built_again(tmp_path: Path) -> None:
    (tmp_path / "kept/modules").mkdir(parents=True)
    module = tmp_path / "tree/lib/modules/6.1/onload.ko"
    module.parent.mkdir(parents=True)
    kernel = Kernel("6.1", tmp_path / "kept", tmp_path / "tree")
    found = []
    for content in b"\0depends=\0 1", b"\0depends=\0 2", b"\0depends=\0 1":
        module.write_bytes(content)
        found.append(symbols_file(kernel, ["onload"]))
    assert found[0] == found[2] != found[1]


def test_a_module_comes_after_what_it_asks_the_kernel_for(tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    for name in ("libcrc32c", "crc32c_generic"):
        (tmp_path / "modules" / f"{name}.ko").write_bytes(b"\0depends=\0")
    found = Kernel("6.1", tmp_path).modules(["libcrc32c"])
    assert [path.stem for path in found] == ["crc32c_generic", "libcrc32c"]


def test_the_initial_disk_is_an_archive_that_cpio_reads(tmp_path: Path) -> None:
    module = tmp_path / "veth.ko"
    module.write_bytes(b"module")
    archive = initial_disk(b"agent", [module])
    names = [b"init\0", b"modules/000-veth.ko\0", b"TRAILER!!!\0"]
    assert all(name in archive for name in names)
    assert archive.index(b"agent") % 4 == archive.index(b"module\0\0") % 4 == 0
    assert len(archive) % 4 == 0


def test_plugin_and_agent_compile(tmp_path: Path) -> None:
    from stackcost.counting.programs import HERE

    for version in (1, 3, 5):
        flags = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", f"-DAPI_VERSION={version}"]
        command = ["cc", *flags, "-shared", "-fPIC", "-o", str(tmp_path / "p.so")]
        subprocess.run([*command, str(HERE / "plugin.c")], check=True)
    command = ["cc", "-Wall", "-Wextra", "-Werror", "-static", "-o", str(tmp_path / "agent")]
    subprocess.run([*command, str(HERE / "agent.c")], check=True)
