"""Tests of HTTP clients, in the shape of the publications' tables."""

from stackcost.report.http.figures import Curve, is_scaled, reached, series
from stackcost.report.http.tables import (
    clients_table,
    not_measured_table,
    result_tables,
    shared_remark,
    tests_table,
    times_remark,
)
from stackcost.report.http.tls import KINDS, Tls, tls_pairs, tls_table

__all__ = [
    "KINDS",
    "Curve",
    "Tls",
    "clients_table",
    "is_scaled",
    "not_measured_table",
    "reached",
    "result_tables",
    "series",
    "shared_remark",
    "tests_table",
    "times_remark",
    "tls_pairs",
    "tls_table",
]
