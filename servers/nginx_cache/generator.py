"""Generates objects over HTTP/1.1: the length is the path's number, the content follows X-Object.

A separate program on the load's cores: generator.py ADDRESS PORT. It does not import stackcost.
"""

import asyncio
import random
import re
import sys

POOL_BYTES = 2_000_000
GET = re.compile(rb"GET /(\d+)\.bin HTTP/1\.1\r\n")
OBJECT = re.compile(rb"\r\nx-object: *(\d+)", re.IGNORECASE)


async def answer(pool: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one connection's requests until it is closed."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            asked, number = GET.match(head), OBJECT.search(head)
            length = int(asked[1]) if asked else 0
            status = b"200 OK" if asked and length <= POOL_BYTES else b"404 Not Found"
            length = length if status.startswith(b"200") else 0
            start = int(number[1]) % (POOL_BYTES - length + 1) if number else 0
            writer.write(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n" % (status, length))
            writer.write(memoryview(pool)[start : start + length])
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def serve(address: str, port: int) -> None:
    """Listen until ended."""
    pool = random.Random(port).randbytes(POOL_BYTES)  # nothing on the way could compress it
    server = await asyncio.start_server(lambda r, w: answer(pool, r, w), address, port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2])))
