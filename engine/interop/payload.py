"""What the flows of the interoperability matrix carry, on either side."""

import random
import string

# A prime period: no multiple of a segment, a window or a power of two maps the payload onto
# itself, so bytes out of place are seen. Letters: a browser and an echo server take them, too.
UNIT = "".join(random.Random(9293).choices(string.ascii_letters, k=997)).encode()
# Of a page: what the engine asks with, and what is before its own response's body.
REQUEST = b"GET /body HTTP/1.1\r\nHost: 48.0.0.1\r\n\r\n"
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n"
    b"Connection: close\r\n\r\n"
)


def payload(length: int) -> bytes:
    """The first `length` bytes of the repeated unit."""
    return (UNIT * (length // len(UNIT) + 1))[:length]


def page(length: int) -> bytes:
    """`length` bytes of text in one line."""
    return payload(length - 1) + b"\n"
