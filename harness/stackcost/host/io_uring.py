"""Whether this kernel lets programs use io_uring, as the suite's small server does."""

import ctypes
import errno
import os

SETUP = 425  # io_uring_setup(2), the same on every architecture
SINGLE_ISSUER, DEFER_TASKRUN = 1 << 12, 1 << 13  # linux/io_uring.h; Linux 6.1
REASONS = {
    errno.ENOSYS: "this kernel has no io_uring; use one with CONFIG_IO_URING=y",
    errno.EPERM: "this machine forbids io_uring; run: sysctl -w kernel.io_uring_disabled=0",
    errno.EINVAL: "this kernel's io_uring is too old; use Linux 6.1 or later",
}


class _Parameters(ctypes.Structure):
    """struct io_uring_params, 120 bytes."""

    _fields_ = [
        ("entries", ctypes.c_uint32 * 2),
        ("flags", ctypes.c_uint32),
        ("rest", ctypes.c_uint32 * 27),
    ]


def refused() -> str:
    """Why no ring can be made, as "reason; what to do"; empty if one can."""
    number = _error()
    if not number:
        return ""
    return REASONS.get(number, f"io_uring cannot be used here ({os.strerror(number)}); run as root")


def _error() -> int:
    """The number of the error of making a ring, which is closed again; 0 for none."""
    library = ctypes.CDLL(None, use_errno=True)
    wanted = _Parameters(flags=SINGLE_ISSUER | DEFER_TASKRUN)
    ring = library.syscall(SETUP, 2, ctypes.byref(wanted))
    if ring < 0:
        return ctypes.get_errno()
    os.close(ring)
    return 0
