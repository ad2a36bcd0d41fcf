"""Runs a BPF program of this package through libbpf, which every Debian with iproute2 has.

The program is compiled by clang when it is needed, once in a process: half a second, and no
compiled file that could be out of step with its source. The kernel drops programs and maps with
their last descriptor, so nothing is left behind however this process ends.
"""

import ctypes
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stackcost.contracts.errors import StackcostError
from stackcost.host.as_root import same_as_root
from stackcost.host.compiler import compile_bpf

KERNEL_TYPES = Path("/sys/kernel/btf/vmlinux")
RUN_ON_CPU = 1  # BPF_F_TEST_RUN_ON_CPU, linux/bpf.h
BTF_KIND_TYPEDEF = 8  # linux/btf.h


class _TestRunOptions(ctypes.Structure):
    """struct bpf_test_run_opts of bpf/bpf.h."""

    _fields_ = [
        ("sz", ctypes.c_size_t),
        ("buffers", ctypes.c_void_p * 2),
        ("buffer_sizes", ctypes.c_uint32 * 2),
        ("contexts", ctypes.c_void_p * 2),
        ("context_sizes", ctypes.c_uint32 * 2),
        ("retval", ctypes.c_uint32),
        ("repeat", ctypes.c_int),
        ("duration", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("cpu", ctypes.c_uint32),
        ("batch_size", ctypes.c_uint32),
    ]


class Entries:
    """Entries of a hash as they were read; iterating makes pairs of key and value of them."""

    def __init__(self, key: type[Any], value: type[Any], keys: bytes, values: bytes):
        self._types = key, value
        self._bytes = keys, values

    def __len__(self) -> int:
        return len(self._bytes[0]) // ctypes.sizeof(self._types[0])

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        keys, values = (
            (each * len(self)).from_buffer_copy(read)
            for each, read in zip(self._types, self._bytes, strict=True)
        )
        return zip(keys, values, strict=True)


class BpfObject:
    """The programs and maps of one source file, loaded into the kernel.

    `source`: a .bpf.c file. `defines`: macros for it. `shared`: maps of another object, by
    their descriptors (`map`), that take the place of its own of these names. Raises StackcostError
    when this machine cannot compile or load it.
    """

    def __init__(
        self, source: Path, defines: Sequence[str] = (), shared: Mapping[str, int] | None = None
    ):
        self._object = None
        self._links: list[int] = []
        self._room: dict[str, tuple[Any, Any]] = {}
        self._library = _libbpf()
        if not KERNEL_TYPES.exists():
            raise StackcostError(
                "this kernel has no type information (BTF), which exact CPU times need",
                "use a kernel with CONFIG_DEBUG_INFO_BTF=y, such as Debian's",
            )
        image = compile_bpf(source, defines)
        self._object = self._library.bpf_object__open_mem(image, len(image), None)
        if not self._object:
            raise StackcostError(f"libbpf cannot read the compiled {source.name}", _errno())
        self._leave_out_missing_tracepoints()
        for name, descriptor in (shared or {}).items():
            place = self._library.bpf_object__find_map_by_name(self._object, name.encode())
            if self._library.bpf_map__reuse_fd(place, descriptor):
                raise StackcostError(f"BPF map {name} cannot be shared ({_errno()})")
        if self._library.bpf_object__load(self._object):
            reason = _errno()
            self.close()
            raise StackcostError(
                f"the kernel refuses {source.name} ({reason})", f"run as root: {same_as_root()}"
            )
        self.cpus = self._library.libbpf_num_possible_cpus()

    def attach(self) -> None:
        """Start every program that names a tracepoint this kernel has."""
        for name, program in self._programs():
            if not name.startswith("tp_btf/") or not self._library.bpf_program__autoload(program):
                continue
            link = self._library.bpf_program__attach(program)
            if not link:
                raise StackcostError(f"the kernel refuses to trace {name[7:]} ({_errno()})")
            self._links.append(link)

    def detach(self) -> None:
        """Stop every program; maps keep what they hold, and `attach` starts all again."""
        for link in self._links:
            self._library.bpf_link__destroy(link)
        self._links.clear()

    def program(self, name: str) -> int:
        """The descriptor of a program, valid until `close`."""
        found = self._library.bpf_object__find_program_by_name(self._object, name.encode())
        return int(self._library.bpf_program__fd(found))

    def map(self, name: str) -> int:
        """The descriptor of a map, valid until `close`."""
        return int(self._library.bpf_object__find_map_fd_by_name(self._object, name.encode()))

    def run(self, program: str, cpu: int) -> None:
        """Run a program of type raw_tp once, on one CPU, and return when it has run."""
        options = _TestRunOptions(sz=ctypes.sizeof(_TestRunOptions), flags=RUN_ON_CPU, cpu=cpu)
        if self._library.bpf_prog_test_run_opts(self.program(program), ctypes.byref(options)):
            raise StackcostError(f"{program} does not run on CPU {cpu} ({_errno()})")

    def read_per_cpu(self, name: str, value: type[Any]) -> Sequence[Any]:
        """The only element of a per-CPU array: one value for each possible CPU."""
        values = (value * self.cpus)()
        key = ctypes.c_uint32(0)
        if self._library.bpf_map_lookup_elem(self.map(name), ctypes.byref(key), values):
            raise StackcostError(f"BPF map {name} cannot be read ({_errno()})")
        return values

    def lookup(self, name: str, key: Any, value: type[Any]) -> Any:
        """The value of one key of a map."""
        found = value()
        if self._library.bpf_map_lookup_elem(
            self.map(name), ctypes.byref(key), ctypes.byref(found)
        ):
            raise StackcostError(f"BPF map {name} cannot be read ({_errno()})")
        return found

    def read_hash(self, name: str, key: type[Any], value: type[Any], most: int) -> Entries:
        """Up to `most` entries of a hash."""
        return self._batch(self._library.bpf_map_lookup_batch, name, key, value, most)

    def take_hash(self, name: str, key: type[Any], value: type[Any], most: int) -> Entries:
        """Read a hash as `read_hash` does, and empty it."""
        return self._batch(self._library.bpf_map_lookup_and_delete_batch, name, key, value, most)

    def _batch(self, call: Any, name: str, key: type[Any], value: type[Any], most: int) -> Entries:
        if name not in self._room:  # to make room takes longer than to read
            self._room[name] = (key * most)(), (value * most)()
        keys, values = self._room[name]
        count, position = ctypes.c_uint32(most), ctypes.c_uint64()
        failed = call(
            self.map(name), None, ctypes.byref(position), keys, values, ctypes.byref(count), None
        )
        if failed and ctypes.get_errno() != 2:  # ENOENT: that was all of it
            raise StackcostError(f"BPF map {name} cannot be read ({_errno()})")
        found = count.value
        return Entries(
            key,
            value,
            ctypes.string_at(keys, found * ctypes.sizeof(key)),
            ctypes.string_at(values, found * ctypes.sizeof(value)),
        )

    def close(self) -> None:
        """Detach and unload."""
        self.detach()
        if self._object:
            self._library.bpf_object__close(self._object)
            self._object = None

    def _programs(self) -> list[tuple[str, int]]:
        """(section name, handle) of each program."""
        found, program = [], None
        while program := self._library.bpf_object__next_program(self._object, program):
            found.append((self._library.bpf_program__section_name(program).decode(), program))
        return found

    def _leave_out_missing_tracepoints(self) -> None:
        """Some tracepoints are of one architecture; one unknown name would fail the whole load."""
        types = self._library.btf__load_vmlinux_btf()
        for name, program in self._programs():
            typedef = f"btf_trace_{name.removeprefix('tp_btf/')}".encode()
            if name.startswith("tp_btf/") and (
                self._library.btf__find_by_name_kind(types, typedef, BTF_KIND_TYPEDEF) < 0
            ):
                self._library.bpf_program__set_autoload(program, False)
        self._library.btf__free(types)


def _libbpf() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libbpf.so.1", use_errno=True)
    except OSError as error:
        raise StackcostError("libbpf.so.1 is missing", "apt-get install libbpf1") from error
    pointer, number, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "bpf_object__open_mem": (pointer, [text, ctypes.c_size_t, pointer]),
        "bpf_object__load": (number, [pointer]),
        "bpf_object__close": (None, [pointer]),
        "bpf_object__next_program": (pointer, [pointer, pointer]),
        "bpf_object__find_program_by_name": (pointer, [pointer, text]),
        "bpf_object__find_map_fd_by_name": (number, [pointer, text]),
        "bpf_program__section_name": (text, [pointer]),
        "bpf_program__autoload": (ctypes.c_bool, [pointer]),
        "bpf_program__set_autoload": (number, [pointer, ctypes.c_bool]),
        "bpf_program__attach": (pointer, [pointer]),
        "bpf_program__fd": (number, [pointer]),
        "bpf_link__destroy": (number, [pointer]),
        "bpf_prog_test_run_opts": (number, [number, pointer]),
        "bpf_map_lookup_elem": (number, [number, pointer, pointer]),
        "bpf_map_lookup_batch": (number, [number, *[pointer] * 6]),
        "bpf_map_lookup_and_delete_batch": (number, [number, *[pointer] * 6]),
        "bpf_object__find_map_by_name": (pointer, [pointer, text]),
        "bpf_map__reuse_fd": (number, [pointer, number]),
        "btf__load_vmlinux_btf": (pointer, []),
        "btf__find_by_name_kind": (ctypes.c_int32, [pointer, text, ctypes.c_uint32]),
        "btf__free": (None, [pointer]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    library.libbpf_set_print(None)  # its messages would break the progress display
    return library


def _errno() -> str:
    return os.strerror(ctypes.get_errno())
