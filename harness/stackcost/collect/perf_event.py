"""Opens events of one CPU by perf_event_open."""

import ctypes
import errno
import os
import platform
import struct

from stackcost.contracts.errors import StackcostError
from stackcost.host.as_root import same_as_root

# include/uapi/linux/perf_event.h
HARDWARE, SOFTWARE = 0, 1  # enum perf_type_id
NO_USER, NO_KERNEL = 1 << 4, 1 << 5  # bits of perf_event_attr: exclude_user, exclude_kernel
CPU_CLOCK = 0  # PERF_COUNT_SW_CPU_CLOCK
SET_PERIOD, SET_BPF = 0x40082404, 0x40042408  # PERF_EVENT_IOC_PERIOD, PERF_EVENT_IOC_SET_BPF
ATTRIBUTES = "IIQQQQQIIQ"  # struct perf_event_attr up to PERF_ATTR_SIZE_VER0
CLOSE_ON_EXEC = 8  # PERF_FLAG_FD_CLOEXEC
SYSTEM_CALL = {"x86_64": 298, "aarch64": 241}


def open_event(
    kind: int, config: int, cpu: int, *, period: int = 0, read_format: int = 0, flags: int = 0
) -> int:
    """A descriptor of an event that all programs on one CPU are counted in; it counts at once.

    `kind`, `config`, `period`, `read_format`: as in perf_event_attr; `flags`: its bits. Raises
    StackcostError where this machine has no such event or this user may not open it.
    """
    number = SYSTEM_CALL.get(platform.machine())
    if number is None:
        raise StackcostError(f"no counters are read on {platform.machine()}")
    size = struct.calcsize(ATTRIBUTES)
    attributes = struct.pack(ATTRIBUTES, kind, size, config, period, 0, read_format, flags, 0, 0, 0)
    library = ctypes.CDLL(None, use_errno=True)
    descriptor = int(library.syscall(number, attributes, -1, cpu, -1, CLOSE_ON_EXEC))
    if descriptor >= 0:
        return descriptor
    failed = ctypes.get_errno()
    if kind == HARDWARE and failed in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP):
        raise StackcostError(
            "this machine has no counters of cycles and instructions (a virtual machine without "
            "a performance monitoring unit)"
        )
    if failed in (errno.EACCES, errno.EPERM):
        raise StackcostError(
            "perf_event_open needs root, or a lower kernel.perf_event_paranoid",
            f"{same_as_root()}; or: sysctl kernel.perf_event_paranoid=-1",
        )
    raise StackcostError(f"perf_event_open: {os.strerror(failed)}")
