"""dask for the beds: a resource for each, and what it listens on."""

import urllib.error
import urllib.request
from collections.abc import Sequence

import psutil
import pytest

from stackcost.runs.cells.cluster import LOOPBACK, own_cluster
from stackcost.runs.cells.worker import BED
from tests.runs.made_up import EXPERIMENT

PORT = 18_787
BEDS = {"one": EXPERIMENT, "two": EXPERIMENT}


def listening() -> list[Sequence[object]]:
    own = psutil.Process().net_connections()
    return [tuple(each.laddr) for each in own if each.status == psutil.CONN_LISTEN]


def test_each_bed_is_a_resource_and_nothing_listens_but_on_loopback() -> None:
    before = set(listening())
    with own_cluster(BEDS, None) as client:
        resources = client.run_on_scheduler(
            lambda dask_scheduler: {
                worker.name: worker.resources for worker in dask_scheduler.workers.values()
            }
        )
        assert resources == {"one": {BED: 1}, "two": {BED: 1}}
        own = set(listening()) - before
        assert {address for address, _ in own} == {LOOPBACK}
        for _, port in own:
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"http://{LOOPBACK}:{port}/status")
    assert set(listening()) == before


def test_the_pages_are_on_loopback_if_somebody_wants_them() -> None:
    with own_cluster(BEDS, PORT):
        assert (LOOPBACK, PORT) in listening()
        assert {address for address, _ in listening()} == {LOOPBACK}
        with urllib.request.urlopen(f"http://{LOOPBACK}:{PORT}/status") as page:
            assert page.status == 200
