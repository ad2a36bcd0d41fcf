"""Serves the live page, its events and its metrics on loopback, from a thread of its own.

Once a second it takes in what the collectors have read anyway. A page gets the newest state or
none: one that does not read is passed over, so it holds nothing up and takes no memory.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.iostream import StreamClosedError
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler, url

from stackcost.contracts.errors import StackcostError
from stackcost.runs.live.metrics import CONTENT_TYPE, exposition
from stackcost.runs.live.watch import Watch

HERE = Path(__file__).parent
LOOPBACK = "127.0.0.1"
MOST_PAGES = 16
LONGEST_REQUEST = 16 << 10
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}


@contextmanager
def serving(watch: Watch, port: int) -> Iterator[str]:
    """Serve a watch on this port of loopback (0: a free one); yields the page's address.

    A test bed puts its thread, as all of this process, on the load's cores. StackcostError if the
    port is taken.
    """
    try:
        sockets = bind_sockets(port, LOOPBACK)
    except OSError as error:
        raise StackcostError(
            f"port {port} of {LOOPBACK} cannot be used for the live page: {error.strerror}",
            "choose another port, or any that is free: --live 0",
        ) from error
    number = sockets[0].getsockname()[1]
    started: Future[tuple[IOLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        os.nice(10)  # of this thread alone: its work may wait, the generator's may not
        ended = asyncio.Event()
        pages = Pages(watch)
        given = {"pages": pages}
        routes = [url("/events", Events, given), url("/metrics", Metrics, given)]
        for path, (name, kind) in FILES.items():
            routes.append(url(path, File, {"name": name, "kind": kind}))
        server = HTTPServer(
            Application(routes, log_function=lambda _: None),
            max_header_size=LONGEST_REQUEST,
            max_body_size=LONGEST_REQUEST,
            idle_connection_timeout=30,
        )
        server.add_sockets(sockets)
        ticking = PeriodicCallback(pages.tick, 1000)
        ticking.start()
        started.set_result((IOLoop.current(), ended))
        await ended.wait()
        ticking.stop()
        server.stop()
        pages.close()
        await server.close_all_connections()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="live", daemon=True)
    thread.start()
    loop, ended = started.result()
    try:
        yield f"http://{LOOPBACK}:{number}/"
    finally:
        loop.add_callback(ended.set)
        thread.join(2)


class Pages:
    """The pages that are open. Each has the newest state waiting for it, or none."""

    def __init__(self, watch: Watch):
        self.watch = watch
        self._queues: set[asyncio.Queue[str | None]] = set()

    def tick(self) -> None:
        """Take in new samples, and give every page that has read its last state the newest."""
        self.watch.read()
        waiting = [queue for queue in self._queues if queue.empty()]
        if waiting:
            state = self.watch.state()
            for queue in waiting:
                queue.put_nowait(state)

    @contextmanager
    def one_more(self) -> Iterator["asyncio.Queue[str | None]"]:
        """A page's queue while it is open. HTTPError 503 if too many are."""
        if len(self._queues) >= MOST_PAGES:
            raise HTTPError(503)
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        queue.put_nowait(self.watch.state())
        self._queues.add(queue)
        try:
            yield queue
        finally:
            self._queues.discard(queue)

    def close(self) -> None:
        """End all pages."""
        for queue in self._queues:
            queue.put_nowait(None)


class Answer(RequestHandler):
    """What all answers have: only for this machine's names, and nothing from elsewhere."""

    def set_default_headers(self) -> None:
        """Headers of every answer, of errors too."""
        self.set_header("Server", "stackcost")
        self.set_header("Content-Security-Policy", POLICY)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cache-Control", "no-store")

    def prepare(self) -> None:
        """Refuse a name that somebody else's DNS has pointed to loopback (DNS rebinding)."""
        if self.request.host_name not in (LOOPBACK, "localhost"):
            raise HTTPError(403)


class File(Answer):
    """A part of the page."""

    def initialize(self, name: str, kind: str) -> None:
        """`name`: of the file here; `kind`: its media type."""
        self._name, self._kind = name, kind

    def get(self) -> None:
        """The file."""
        self.set_header("Content-Type", self._kind)
        self.write((HERE / self._name).read_bytes())


class Events(Answer):
    """The state once a second, as server-sent events (HTML, section 9.2)."""

    def initialize(self, pages: Pages) -> None:
        """`pages`: which this one is added to."""
        self._pages = pages

    async def get(self) -> None:
        """Until the page is closed, or the run is over."""
        self.set_header("Content-Type", "text/event-stream")
        with self._pages.one_more() as queue, contextlib.suppress(StreamClosedError):
            while (state := await queue.get()) is not None:
                self.write(f"data: {state}\n\n")
                await self.flush()  # returns when the page has room: until then it gets no more


class Metrics(Answer):
    """The metrics for Prometheus."""

    def initialize(self, pages: Pages) -> None:
        """`pages`: whose watch is read."""
        self._pages = pages

    def get(self) -> None:
        """One scrape."""
        self.set_header("Content-Type", CONTENT_TYPE)
        self.write(exposition(self._pages.watch.snapshot))
