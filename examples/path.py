"""A path of your own: a proxy that takes BURN_US microseconds of CPU for each connection.

See docs/paths.md. The file is both: the class that stackcost loads, and the program that it starts.
"""

import asyncio
import json
import sys
import time

from stackcost.duts.proxy.base import Proxy

BURN_US = 1_000


class MyProxy(Proxy):
    def command(self) -> list[str]:
        return [sys.executable, __file__, "path.json"]

    def write_files(self) -> None:
        (self.endpoint.folder / "path.json").write_text(self.configuration())

    def configuration(self) -> str:
        where = self.endpoint
        return json.dumps(
            {"listen": [where.address, where.port], "to": [self.behind_at, where.port]}
        )


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while part := await reader.read(65_536):
        writer.write(part)
        await writer.drain()
    writer.close()


async def main(listen: list, to: list) -> None:
    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        end = time.process_time() + BURN_US / 1e6
        while time.process_time() < end:
            pass
        server = await asyncio.open_connection(*to)
        await asyncio.gather(copy(reader, server[1]), copy(server[0], writer))

    server = await asyncio.start_server(lead, *listen, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        asyncio.run(main(**json.load(file)))
