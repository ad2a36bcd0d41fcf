"""Samples of both interoperability matrices: script/bench interop, and the same with --tls."""

from pathlib import Path

import pytest

from engine.interop.bed import Wire, engine_on, host_behind_router
from engine.interop.cell import ALL_OPTIONS, ECN, SACK, SCALING, TIMESTAMPS, Cell, run_cell
from engine.interop.tls import KINDS, run_role

pytestmark = pytest.mark.bed

# Worse than any of the matrix: one in a hundred frames lost, one held back, one marked CE.
BAD = Wire(loss=10, reordering=10, congestion=10)
SOME = (0, TIMESTAMPS | ECN, SACK | SCALING)


@pytest.mark.parametrize(
    "engine_is_server",
    [
        pytest.param(False, id="client", marks=pytest.mark.long),
        pytest.param(True, id="server"),
    ],
)
def test_every_flow_over_a_bad_wire_is_whole(tmp_path: Path, engine_is_server: bool) -> None:
    with (
        host_behind_router(BAD, ipv6=True) as bed,
        engine_on(bed, tmp_path, engine_is_server) as client,
    ):
        cells = [Cell(engine_is_server, options, 200_000, 10, lossy=True) for options in SOME]
        cells.append(Cell(engine_is_server, ALL_OPTIONS, 200_000, 10, lossy=True, ipv6=True))
        resent = marked = 0
        for cell in cells:
            result = run_cell(cell, bed, client)
            assert result["fault"] is None, cell
            resent += result["engine_counters"]["tcps_sndrexmitpack"]
            marked += result["engine_counters"].get("tcps_ecn_ce", 0)
        assert resent > 0
        assert marked > 0


@pytest.mark.long
@pytest.mark.parametrize("engine_is_server", [False, True], ids=["client", "server"])
def test_pages_over_tls_are_whole_against_openssl_and_gnutls(engine_is_server: bool) -> None:
    wanted = ["openssl", "GnuTLS"]
    results = list(run_role(engine_is_server, "1 % loss, 1 % reordered", wanted))
    assert len(results) == len(wanted) * len(KINDS)
    for result in results:
        assert not result["fault"] and not result["skipped"], result
