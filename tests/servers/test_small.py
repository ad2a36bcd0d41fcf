"""The suite's small server in each of its ways: whole responses, and its count of requests."""

import errno
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from stackcost.bed.local import LocalTestbed
from stackcost.doctor.check import State
from stackcost.doctor.kernel import check_io_uring
from stackcost.experiment.read_file import read_experiment
from stackcost.host import io_uring
from stackcost.servers.probe import ask
from stackcost.servers.registry import server_class
from stackcost.session.server_settings import server_settings
from tests.servers.conftest import started

LONG = pytest.mark.long
PLAN = read_experiment(Path(__file__).resolve().parents[2] / "experiments" / "io_uring.yaml")
# Each of the program's two loops; the others are variants of them.
NAMES = [
    name if name in ("small-epoll/kernel", "small-uring/kernel") else pytest.param(name, marks=LONG)
    for name in PLAN.servers
    if name.startswith("small-")
]


@pytest.mark.bed
@pytest.mark.parametrize("name", NAMES)
def test_every_client_gets_the_whole_response_and_is_counted(
    name: str, bed: LocalTestbed, tmp_path: Path
) -> None:
    kind, large = server_class(name), 1_000_000  # more than a send takes at once
    if missing := kind.lacks():
        pytest.skip(missing)
    settings = replace(server_settings(PLAN, kind), response_bytes=large)
    with started(kind.make(bed.endpoint(tmp_path), settings)) as server:
        where = bed.endpoint(tmp_path)

        def answered(_: int) -> int:
            return ask(bed.load_namespace, where.address, where.port, settings.request).length

        with ThreadPoolExecutor(4) as clients:
            assert set(clients.map(answered, range(4))) == {large}
        assert server.requests_served() == 4


def test_its_accept_queue_is_as_long_as_nginxs_or_as_the_experiment_says(tmp_path: Path) -> None:
    kind = server_class("small-epoll/kernel")
    where = LocalTestbed().endpoint(tmp_path)  # of a bed that is not made
    assert kind.make(where, server_settings(PLAN, kind)).command()[-1] == "511"
    program = PLAN.server.model_copy(update={"backlog": 64})
    settings = server_settings(PLAN.model_copy(update={"server": program}), kind)
    assert kind.make(where, settings).command()[-1] == "64"


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM, errno.EINVAL])
def test_a_kernel_that_refuses_is_said_with_what_to_do(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(io_uring, "_error", lambda: number)
    # Its library is looked for first, and is not installed by script/bootstrap.
    monkeypatch.setattr(server_class("small-epoll/kernel"), "lacks", lambda: "")
    check = check_io_uring()
    assert check.state is State.MISSING and check.hint
    assert server_class("small-uring/kernel").lacks() == f"{check.found}; {check.hint}"
