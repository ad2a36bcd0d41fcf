"""A path of your own: a proxy that takes BURN_US microseconds of CPU for each connection.

See docs/paths.md. The file is both: the class that stackcost loads, and the program that it starts.
"""

import asyncio
import json
import sys
import time

from stackcost.duts.proxy import Proxy

BURN_US = 1_000


class MyProxy(Proxy):
    def command(self) -> list[str]:
        return [sys.executable, __file__, "path.json"]

    def write_files(self) -> None:
        (self.endpoint.folder / "path.json").write_text(self.configuration())

    def configuration(self) -> str:
        where = self.endpoint
        return json.dumps(
            {"listen": [where.address, where.port], "to": [self.backend_at, where.port]}
        )


class Side(asyncio.Protocol):
    """One of the two connections: what it receives goes to the other one."""

    def __init__(self, to: list | None = None, other: asyncio.Transport | None = None):
        self.to, self.other, self.early = to, other, b""

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.own = transport
        if self.to:
            end = time.process_time() + BURN_US / 1e6
            while time.process_time() < end:
                pass
            self.opening = asyncio.ensure_future(self.open())

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self.other, _ = await loop.create_connection(lambda: Side(other=self.own), *self.to)
        self.other.write(self.early)

    def data_received(self, data: bytes) -> None:
        if self.other:
            self.other.write(data)
        else:
            self.early += data

    def connection_lost(self, error: Exception | None) -> None:
        if self.other:
            self.other.close()


async def main(listen: list, to: list) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Side(to), *listen, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        asyncio.run(main(**json.load(file)))
