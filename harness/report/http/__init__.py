"""Tests of HTTP clients, in the shape of the publications' tables."""

from harness.report.http.figures import Series, reached, series
from harness.report.http.tables import (
    clients_table,
    not_measured_table,
    series_table,
    shared_remark,
    tests_table,
    times_remark,
)
from harness.report.http.tls import KINDS, Tls, tls_pairs, tls_table

__all__ = [
    "KINDS",
    "Series",
    "Tls",
    "clients_table",
    "not_measured_table",
    "reached",
    "series",
    "series_table",
    "shared_remark",
    "tests_table",
    "times_remark",
    "tls_pairs",
    "tls_table",
]
