"""What an ordinary user is told who may not sample: why not, and the command that allows it."""

import ctypes
import os
import re
from pathlib import Path

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import RETURNS
from stackcost.host.symbols import kernel_names, mapped_files, program_function
from tests.without_root import python_without_root

HIDDEN = "sysctl kernel.kptr_restrict=0, and run as root"


def test_addresses_that_the_kernel_hides_are_named_with_the_setting(tmp_path: Path) -> None:
    hidden = tmp_path / "kallsyms"
    hidden.write_text("0000000000000000 T tcp_sendmsg\n0000000000000000 t tcp_ack\n")
    with pytest.raises(StackcostError, match=re.escape(HIDDEN)):
        kernel_names(hidden)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("open_event(SOFTWARE, CPU_CLOCK, 0)", "paranoid=-1"),
        ("kernel_names()", HIDDEN),
    ],
)
def test_without_root_sampling_says_which_command_allows_it(call: str, told: str) -> None:
    if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) < 2:
        pytest.skip("here everybody may sample")
    done = python_without_root(
        "from stackcost.collect.perf_event import CPU_CLOCK, SOFTWARE, open_event\n"
        f"from stackcost.host.symbols import kernel_names\n{call}"
    )
    assert done.returncode and told in done.stderr, done.stderr


def test_where_a_system_call_returns_to_is_told_from_the_rest_of_its_function() -> None:
    function = ctypes.cast(ctypes.CDLL(None).getppid, ctypes.c_void_p).value
    assert function
    mapped = next(each for each in mapped_files(os.getpid()) if each.start <= function < each.end)
    around = [program_function(os.getpid(), mapped, function + place) for place in range(16)]
    assert not around[0].endswith(RETURNS)
    assert sum(name.endswith(RETURNS) for name in around) == 1
