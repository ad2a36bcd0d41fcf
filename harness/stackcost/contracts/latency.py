"""Histograms of connection times in microseconds, and their percentiles."""

from hdrh.histogram import HdrHistogram

KINDS = ("connect", "first_byte", "completion")
TLS_HANDSHAKE = "tls_handshake"  # between the first two, of connections with TLS
PERCENTILES = {
    "p50": 50.0,
    "p90": 90.0,
    "p99": 99.0,
    "p99.9": 99.9,
    "p99.99": 99.99,
    "p99.999": 99.999,
    "max": 100.0,
}
TAIL = ("p99.99", "p99.999")  # only told where enough connections are beyond them
HIGHEST_US = 2**32 - 1
SIGNIFICANT_FIGURES = 2  # the engine's; a value is known to 0.8 %


def percentile_us(histogram: HdrHistogram, percentile: float) -> float | None:
    """The percentile in microseconds; None if there were no connections."""
    if not histogram.get_total_count():
        return None
    return float(histogram.get_value_at_percentile(percentile))
