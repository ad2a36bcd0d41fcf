"""One HTTP request and response per TCP connection, written as program commands.

The client sends a request, receives the whole response and closes first, as in the published
capture of TRex against NGINX. The request is HTTP/1.1 without `Connection: close`, so the server
does not close, and TIME_WAIT is on the client. With the default tunables the traffic is that of
http_cap.py.
"""

import argparse
import ipaddress
import os

from trex.astf.api import *

TWO_SEGMENTS = 2 * 1448  # bytes of payload: the MSS is 1460, and timestamps take 12


def request_of(size):
    """A GET of exactly `size` bytes; the User-Agent fills the rest."""
    start = b"GET / HTTP/1.1\r\nHost: 48.0.0.1\r\nUser-Agent: "
    end = b"\r\n\r\n"
    spare = size - len(start) - len(end)
    if spare < 0:
        raise ValueError("request_bytes must be at least %d" % (size - spare))
    return start + b"x" * spare + end


def response_head_of(size):
    """Status line and headers of a response of exactly `size` bytes, headers included."""
    form = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n"
    body = size
    while len(form % body) + body > size:  # the length's own digits count too
        body -= 1
    head = form % body
    if body < 1 or len(head) + body != size:
        raise ValueError("response_bytes cannot be %d, try %d" % (size, max(size + 1, 100)))
    return head.encode()


def over_ipv6(tuning, args):
    """Use IPv6 if there are prefixes: the last 32 bits of each address are the IPv4 address."""
    if args.client_prefix:
        tuning.ipv6.enable = 1
        tuning.ipv6.src_msb = args.client_prefix
        tuning.ipv6.dst_msb = args.server_prefix


def tcp_settings(published):
    """TCP settings of both sides: today's usual ones, or those of the published test bed.

    Today: the initial window has 10 segments (RFC 6928), small segments are sent at once
    (TCP_NODELAY), and at least every second segment is acknowledged (RFC 5681, 4.2; TRex counts
    its bytes). Published: the initial window has 2 segments. The last, small segment of a response
    waits until all segments before it are acknowledged (Nagle), and that ACK waits for up to 100 ms
    (delayed ACK).
    """
    tuning = ASTFGlobalInfo()
    tuning.tcp.delay_ack_msec = 100
    if published:
        tuning.tcp.initwnd = 2
    else:
        tuning.tcp.initwnd = 10
        tuning.tcp.no_delay = 1
        tuning.tcp.no_delay_counter = TWO_SEGMENTS
    return tuning


def bounded(kind, least, most):
    """The type of an option: a number from `least` to `most`. An error names the option."""

    def number(text):
        value = kind(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError("%s is not from %g to %g" % (text, least, most))
        return value

    number.__name__ = kind.__name__  # named in the error for a text that is no number
    return number


def address_range(text):
    """The type of an option: two IPv4 addresses, the first and the last, with "-" between."""
    try:
        first, last = map(ipaddress.IPv4Address, text.split("-"))
    except ValueError:
        first, last = 1, 0
    if first > last:
        raise argparse.ArgumentTypeError("%s is not FIRST-LAST, two IPv4 addresses" % text)
    return text


def ipv6_prefix(text):
    """The type of an option: an IPv6 address whose last 32 bits are free; empty without IPv6."""
    try:
        if text and int(ipaddress.IPv6Address(text)) % 2**32:
            raise ValueError(text)
    except ValueError:
        raise argparse.ArgumentTypeError("%s is not an IPv6 prefix of 96 bits" % text) from None
    return text


class HttpProgram:
    """One template. Client addresses take turns; each connection has a new source port."""

    def create_profile(self, args):
        request = request_of(args.request_bytes)
        head = response_head_of(args.response_bytes)

        client = ASTFProgram()
        client.send(request)
        client.recv(args.response_bytes)

        server = ASTFProgram()
        server.recv(len(request))
        server.send(head, size=args.response_bytes, fill=b"x")

        addresses = ASTFIPGen(
            glob=ASTFIPGenGlobal(ip_offset="1.0.0.0"),
            dist_client=ASTFIPGenDist(ip_range=args.clients.split("-"), distribution="seq"),
            dist_server=ASTFIPGenDist(ip_range=args.servers.split("-"), distribution="seq"),
        )
        tuning = tcp_settings(args.tcp == "published")
        over_ipv6(tuning, args)

        return ASTFProfile(
            default_ip_gen=addresses,
            default_c_glob_info=tuning,
            default_s_glob_info=tuning,
            templates=ASTFTemplate(
                client_template=ASTFTCPClientTemplate(
                    program=client, ip_gen=addresses, port=args.port, cps=args.cps
                ),
                server_template=ASTFTCPServerTemplate(
                    program=server, assoc=ASTFAssociationRule(port=args.port)
                ),
            ),
        )

    def get_profile(self, tunables, **kwargs):
        parser = argparse.ArgumentParser(
            description="Argparser for {}".format(os.path.basename(__file__)),
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        parser.add_argument(
            "--request_bytes", type=bounded(int, 1, 1e7), default=100, help="whole request"
        )
        parser.add_argument(
            "--response_bytes",
            type=bounded(int, 1, 1e9),
            default=32000,
            help="whole response, headers and body; for a real server, its real length",
        )
        parser.add_argument(
            "--port", type=bounded(int, 1, 65535), default=80, help="server's TCP port"
        )
        parser.add_argument(
            "--clients", type=address_range, default="16.0.0.1-16.0.0.200", help="client addresses"
        )
        parser.add_argument(
            "--client_prefix",
            type=ipv6_prefix,
            default="",
            help="IPv6 prefix (96 bits) for these addresses",
        )
        parser.add_argument(
            "--servers", type=address_range, default="48.0.0.1-48.0.0.1", help="server addresses"
        )
        parser.add_argument(
            "--server_prefix", type=ipv6_prefix, default="", help="IPv6 prefix for the servers"
        )
        parser.add_argument(
            "--cps",
            type=bounded(float, 1e-6, 1e9),
            default=1,
            help="connections per second at multiplier 1",
        )
        parser.add_argument(
            "--tcp",
            choices=("today", "published"),
            default="today",
            help="settings of both sides: today's usual ones, or those of the published test bed",
        )
        return self.create_profile(parser.parse_args(tunables))


def register():
    return HttpProgram()
