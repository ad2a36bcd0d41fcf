"""A small HTTP server: one process, one answer, from memory.

Usage: server.py ADDRESS PORT BODY_BYTES
"""

import asyncio
import resource
import sys

ADDRESS, PORT, BODY_BYTES = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
HEAD = f"HTTP/1.1 200 OK\r\nContent-Length: {BODY_BYTES}\r\n\r\n"
RESPONSE = HEAD.encode() + b"x" * BODY_BYTES


class Connection(asyncio.Protocol):
    """Answers every request on one connection; the client closes it."""

    def connection_made(self, transport):
        self.transport = transport
        self.received = b""

    def data_received(self, data):
        *requests, self.received = (self.received + data).split(b"\r\n\r\n")
        for _ in requests:
            self.transport.write(RESPONSE)


async def main():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # one file for each connection
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, ADDRESS, PORT, backlog=4096)
    await server.serve_forever()


asyncio.run(main())
