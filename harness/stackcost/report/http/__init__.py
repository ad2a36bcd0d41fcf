"""Tests of HTTP clients, in the shape of the publications' tables."""

from stackcost.report.http.figures import Curve, ceiling_over_axis, is_scaled, limit_of, series
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
    "ceiling_over_axis",
    "clients_table",
    "is_scaled",
    "limit_of",
    "not_measured_table",
    "result_tables",
    "series",
    "shared_remark",
    "tests_table",
    "times_remark",
    "tls_pairs",
    "tls_table",
]
