"""The studies that a run may be: each has its question answered first, and a table."""

from collections.abc import Callable
from typing import NamedTuple

from stackcost.analysis.summary import Summary
from stackcost.report.http_tls import has_tls, tls_parts_answer, tls_parts_table
from stackcost.report.http_versions import has_versions, versions_answer, versions_table
from stackcost.report.network import network_answer, network_table, varies_network
from stackcost.report.paths import is_path, paths_answer, paths_table
from stackcost.report.text_table import TextTable


class Study(NamedTuple):
    """`notebook`: its name. `of`: whether a run is one; only of such a run there is the rest."""

    notebook: str
    of: Callable[[Summary], bool]
    answer: Callable[[Summary], str]
    table: Callable[[Summary], TextTable]


STUDIES = (
    Study("paths", is_path, paths_answer, paths_table),
    Study("network", varies_network, network_answer, network_table),
    Study("tls", has_tls, tls_parts_answer, tls_parts_table),
    Study("http_versions", has_versions, versions_answer, versions_table),
)
