"""What the flows of the interoperability matrix carry, on either side."""

import random

# A prime period: no multiple of a segment, a window or a power of two maps the payload onto
# itself, so bytes out of place are seen.
UNIT = random.Random(9293).randbytes(997)


def payload(length: int) -> bytes:
    """The first `length` bytes of the repeated unit."""
    return (UNIT * (length // len(UNIT) + 1))[:length]
