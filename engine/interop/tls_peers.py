"""The peers of the TLS matrix: what runs them as servers of a page, and what fetches one with them.

All of them run in the host's namespace, at their own defaults: the engine's end alone says which
version, group, cipher and resumption a connection is to have.
"""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.interop.bed import ENGINE_ADDRESS, HOST, HOST_ADDRESS
from engine.interop.payload import HEAD, REQUEST, page
from stackcost.bed.local import LocalTestbed
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.http import Certificate
from stackcost.host.waiting import wait_until
from stackcost.servers.certificate import BOTH_FILE, CERTIFICATE_FILE, KEY_FILE, make_certificate
from stackcost.servers.probe import ask
from stackcost.servers.registry import server_class

VERSIONS = ("1.2", "1.3")
SIZE = 100_000  # bytes of the page
PORT = 443  # the engine's
ORIGIN, BY_NGINX, BY_HAPROXY, BY_CADDY = 8000, 8001, 8002, 8003  # on the host's loopback
PAGE, COMPLETE = "www/body", "complete/body"  # the latter with a head
URL = f"https://{ENGINE_ADDRESS}/body"
FETCH_S = 60.0
WOLFSSL_HEADER = Path("/usr/include/wolfssl/ssl.h")
WOLFSSL = Path(__file__).with_name("wolfssl_peer.c")
# Its server asks for the name of each client's address, and no resolver answers here.
JAVA = [
    *("java", "-Djdk.net.hosts.file=/dev/null"),
    str(Path(__file__).with_name("JavaPeer.java").resolve()),
]
FILES = {"certificate": CERTIFICATE_FILE, "key": KEY_FILE, "both": BOTH_FILE}

NGINX = """
daemon off;
user root;
pid nginx.pid;
error_log stderr warn;
events {}
http {
    access_log off;
    proxy_max_temp_file_size 0;
    ssl_certificate certificate.pem;
    ssl_certificate_key key.pem;
    ssl_protocols TLSv1.2 TLSv1.3;
    server {
        listen 127.0.0.1:ORIGIN;
        listen HOST_ADDRESS:SERVED ssl;
        root www;
    }
    server {
        listen 127.0.0.1:PROXIED;
        location / {
            proxy_pass https://ENGINE_ADDRESS;
            proxy_ssl_protocols TLSv1.2 TLSv1.3;
        }
    }
}
"""
HAPROXY = """
defaults
    timeout client 60s
    timeout server 60s
    timeout connect 60s
frontend served
    bind HOST_ADDRESS:SERVED ssl crt both.pem
    default_backend origin
backend origin
    server origin 127.0.0.1:ORIGIN
frontend proxied
    bind 127.0.0.1:PROXIED
    default_backend engine
backend engine
    server engine ENGINE_ADDRESS:443 ssl verify none
"""

RUSTLS: Any = server_class("rustls/kernel")
Fetch = Callable[[LocalTestbed, Path, int, bool], list[bytes]]


@dataclass(frozen=True)
class Peer:
    """One other implementation of TLS.

    `program`: what it needs, and `install` how to get that. `served`: the port of its server.
    `server`: the command that runs it, in a folder with the page and the certificate; of a proxy it
    is the client, too. `fetch`: gets the page from the engine, so many times, with resumption or
    not; returns the bodies. `not_server`, `not_client`: why it cannot be that. `no_tickets`: why
    it does not resume as a client, by version.
    """

    name: str
    program: str
    install: str
    served: int
    server: Callable[[int], list[str]] | None = None
    fetch: Fetch | None = None
    echo: bool = False  # the server sends back what it was sent
    not_server: str = ""
    not_client: str = ""
    no_tickets: Mapping[str, str] = field(default_factory=dict)

    def lacks(self) -> str:
        """Why it cannot run here; empty if it can."""
        if self.program == "rustls-server":
            found = not RUSTLS.native.lacks()
        elif self.program.startswith("/"):
            found = Path(self.program).exists()
        else:
            found = shutil.which(self.program) is not None
        return "" if found else f"not installed: {self.install}"


def run(bed: LocalTestbed, command: list[str], folder: Path, given: bytes = b"") -> bytes:
    """What a client that runs to its end in the host's namespace prints."""
    client = bed.run(
        HOST,
        command,
        bed.cpus.server,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        said, complaint = client.communicate(given, timeout=FETCH_S)
    except subprocess.TimeoutExpired:
        client.kill()
        said, complaint = client.communicate()
        raise StackcostError(f"{command[0]} did not end in {FETCH_S:g} s") from None
    if client.returncode:
        raise StackcostError(f"{command[0]} ended with {client.returncode}: {complaint[-300:]!r}")
    return bytes(said)


def body_of(response: bytes) -> bytes:
    """Without its head."""
    return response.partition(b"\r\n\r\n")[2]


def by_curl(url: str) -> Fetch:
    """All by one curl, so that it knows the sessions: of the engine's, or by a proxy to it."""

    def fetch(bed: LocalTestbed, folder: Path, count: int, resumed: bool) -> list[bytes]:
        files = [folder / f"page-{number}" for number in range(count)]
        wanted = [word for file in files for word in ("-o", str(file), url)]
        run(bed, ["curl", "-sSfk", "--http1.1", "--max-time", str(FETCH_S), *wanted], folder)
        return [file.read_bytes() for file in files]

    return fetch


def by_openssl(bed: LocalTestbed, folder: Path, count: int, resumed: bool) -> list[bytes]:
    """By s_client, each with the session of the one before."""
    session = folder / "session.pem"
    session.unlink(missing_ok=True)
    bodies = []
    for _ in range(count):
        known = ["-sess_in", str(session)] if session.exists() else []
        command = ["openssl", "s_client", "-quiet", "-connect", f"{ENGINE_ADDRESS}:{PORT}"]
        said = run(bed, [*command, "-sess_out", str(session), *known], folder, REQUEST)
        bodies.append(body_of(said))
    return bodies


def by_gnutls(bed: LocalTestbed, folder: Path, count: int, resumed: bool) -> list[bytes]:
    """To resume, gnutls-cli opens two connections, and asks on the second one."""
    command = ["gnutls-cli", "--insecure", "--logfile", "gnutls.log", "--port", str(PORT)]
    command += ["--resume", "--waitresumption"] if resumed else []
    return [body_of(run(bed, [*command, ENGINE_ADDRESS], folder, REQUEST)) for _ in range(count)]


def by_wolfssl(bed: LocalTestbed, folder: Path, count: int, resumed: bool) -> list[bytes]:
    """All by one process."""
    where = [ENGINE_ADDRESS, str(PORT), str(count)]
    run(bed, [str(folder / "wolfssl_peer"), "client", *where, "wolfssl"], folder)
    return [body_of((folder / f"wolfssl.{number}").read_bytes()) for number in range(count)]


def by_java(bed: LocalTestbed, folder: Path, count: int, resumed: bool) -> list[bytes]:
    """All by one process."""
    run(bed, [*JAVA, "client", URL, str(count), "java"], folder)
    return [(folder / f"java.{number}").read_bytes() for number in range(count)]


def by_chromium(bed: LocalTestbed, folder: Path, count: int, resumed: bool) -> list[bytes]:
    """What the page shows: text is within a document that the browser makes."""
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += ["--ignore-certificate-errors", f"--user-data-dir={folder / 'chromium'}"]
    said = [run(bed, [*command, "--dump-dom", URL], folder) for _ in range(count)]
    return [each.partition(b">")[2].rpartition(b"</pre>")[0].rpartition(b">")[2] for each in said]


def caddy_settings(served: int) -> str:
    """Caddy as a server of files, and as a proxy to the engine."""
    engine = {
        "handler": "reverse_proxy",
        "transport": {
            "protocol": "http",
            "tls": {"insecure_skip_verify": True},
            "keep_alive": {"enabled": False},
        },
        "upstreams": [{"dial": f"{ENGINE_ADDRESS}:{PORT}"}],
    }
    files = {"handler": "file_server", "root": "www"}
    plain = {"protocols": ["h1"], "automatic_https": {"disable": True}}
    servers = {
        "served": {
            **plain,
            "listen": [f"{HOST_ADDRESS}:{served}"],
            "tls_connection_policies": [{"default_sni": HOST_ADDRESS}],
            "routes": [{"handle": [files]}],
        },
        "proxied": {
            **plain,
            "listen": [f"127.0.0.1:{BY_CADDY}"],
            "routes": [{"handle": [engine]}],
        },
    }
    certificates = {"load_files": [{"certificate": CERTIFICATE_FILE, "key": KEY_FILE}]}
    apps = {"http": {"servers": servers}, "tls": {"certificates": certificates}}
    return json.dumps({"admin": {"disabled": True, "config": {"persist": False}}, "apps": apps})


PEERS = (
    Peer(
        "openssl",
        "openssl",
        "apt-get install openssl",
        4431,
        lambda port: [
            *("openssl", "s_server", "-accept", f"{HOST_ADDRESS}:{port}", "-HTTP", "-quiet"),
            *("-cert", f"../{CERTIFICATE_FILE}", "-key", f"../{KEY_FILE}"),
        ],
        by_openssl,
    ),
    Peer(
        "nginx",
        "nginx",
        "apt-get install nginx-light",
        4432,
        lambda port: ["nginx", "-p", ".", "-e", "stderr", "-c", "nginx.conf"],
        by_curl(f"http://127.0.0.1:{BY_NGINX}/body"),
    ),
    Peer(
        "HAProxy",
        "haproxy",
        "apt-get install haproxy",
        4433,
        lambda port: ["haproxy", "-db", "-f", "haproxy.cfg"],
        by_curl(f"http://127.0.0.1:{BY_HAPROXY}/body"),
    ),
    Peer(
        "wolfSSL",
        str(WOLFSSL_HEADER),
        "apt-get install libwolfssl-dev",
        4434,
        lambda port: [
            *("env", "./wolfssl_peer", "server", HOST_ADDRESS, str(port)),
            *(CERTIFICATE_FILE, KEY_FILE, COMPLETE),
        ],
        by_wolfssl,
    ),
    Peer(
        "GnuTLS",
        "gnutls-serv",
        "apt-get install gnutls-bin",
        4435,
        lambda port: [
            *("gnutls-serv", "--echo", "--quiet", "--disable-client-cert", "--port", str(port)),
            *("--x509certfile", CERTIFICATE_FILE, "--x509keyfile", KEY_FILE),
        ],
        by_gnutls,
        echo=True,
    ),
    Peer(
        "rustls",
        "rustls-server",
        "rustup default stable",
        4436,
        lambda port: [
            *(str(RUSTLS.native.build()), "1", "128", "1.1", "www"),
            *("requests.sock", f"tickets={HOST_ADDRESS}:{port}"),
        ],
        not_client="servers/rustls is a server alone",
    ),
    Peer(
        "Go (Caddy)",
        "caddy",
        "apt-get install caddy",
        4437,
        lambda port: ["env", "HOME=.", "caddy", "run", "--config", "caddy.json"],
        by_curl(f"http://127.0.0.1:{BY_CADDY}/body"),
        no_tickets=dict.fromkeys(VERSIONS, "resumed: Caddy as a proxy keeps no sessions"),
    ),
    Peer(
        "Java",
        "javac",
        "apt-get install openjdk-17-jdk-headless",
        4438,
        lambda port: [
            *(*JAVA, "server", HOST_ADDRESS, str(port)),
            *(CERTIFICATE_FILE, KEY_FILE, PAGE),
        ],
        by_java,
    ),
    Peer(
        "curl",
        "curl",
        "apt-get install curl",
        0,
        fetch=by_curl(URL),
        not_server="a client alone",
        no_tickets={"1.2": "resumed: curl takes no tickets in TLS 1.2"},
    ),
    Peer(
        "Chromium",
        "chromium",
        "apt-get install chromium",
        0,
        fetch=by_chromium,
        not_server="a client alone",
        no_tickets=dict.fromkeys(VERSIONS, "resumed: it fetches one page a start"),
    ),
)


@contextmanager
def running(
    bed: LocalTestbed, folder: Path, certificate: Certificate
) -> Iterator[dict[str, int | None]]:
    """All peers that are installed; the length of each server's head, by the peer's name."""
    write_files(folder, certificate)
    heads: dict[str, int | None] = {}
    with ExitStack() as exits:
        for peer in PEERS:
            if peer.lacks() or peer.server is None:
                continue
            where = folder / "complete" if "s_server" in peer.server(0) else folder
            with (folder / f"{peer.program.replace('/', '-')}.log").open("wb") as log:
                process = bed.run(
                    HOST,
                    peer.server(peer.served),
                    bed.cpus.server,
                    cwd=where,
                    stdout=log,
                    stderr=log,
                )
            exits.callback(process.wait)
            exits.callback(process.terminate)
        for peer in PEERS:
            if not peer.lacks() and peer.server is not None:
                heads[peer.name] = 0 if peer.echo else head_of(peer)
        yield heads


def head_of(peer: Peer) -> int | None:
    """Bytes of the head of its response; None if it does not answer with the page."""
    answers = []

    def answered() -> bool:
        try:
            answers.append(ask(HOST, HOST_ADDRESS, peer.served, REQUEST, tls=True))
        except StackcostError:
            return False
        return True

    serves = wait_until(answered, 10) and answers[-1].body == page(SIZE)
    return answers[-1].length - SIZE if serves else None


def write_files(folder: Path, certificate: Certificate) -> None:
    """What the peers' servers need, and their configurations."""
    make_certificate(folder, HOST_ADDRESS, certificate)
    for name, content in ((PAGE, page(SIZE)), (COMPLETE, HEAD % SIZE + page(SIZE))):
        (folder / name).parent.mkdir()
        (folder / name).write_bytes(content)
    by_name = {peer.name: peer.served for peer in PEERS}
    for name, text, peer_name, proxied in (
        ("nginx.conf", NGINX, "nginx", BY_NGINX),
        ("haproxy.cfg", HAPROXY, "HAProxy", BY_HAPROXY),
    ):
        for word, value in (
            ("ORIGIN", ORIGIN),
            ("SERVED", by_name[peer_name]),
            ("PROXIED", proxied),
            ("HOST_ADDRESS", HOST_ADDRESS),
            ("ENGINE_ADDRESS", ENGINE_ADDRESS),
        ):
            text = text.replace(word, str(value))
        (folder / name).write_text(text)
    (folder / "caddy.json").write_text(caddy_settings(by_name["Go (Caddy)"]))
    if not WOLFSSL_HEADER.exists():
        return
    built = folder / "wolfssl_peer"
    subprocess.run(["cc", "-O1", "-o", built, WOLFSSL, "-lwolfssl"], check=True)
