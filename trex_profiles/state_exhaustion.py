"""Traffic for a full connection table: the connections that fill it, and others at the same time.

`group` chooses one of four template groups. `established`: connections that exchange a request and
a response every `pause_seconds`, for `seconds`. `flood`: connections that are opened, answered
once, and then stay open for `hold_seconds`. `half_open`: connections whose SYNs get no answer and
are sent again for `hold_seconds`. `probe`: short connections at a steady rate, which show when new
connections get through.

Run the groups at the same time, each with its own profile identifier. In one profile, TRex would
give the rate of a group that has reached its limit to the other groups. Start `half_open` last,
because the profile that was added last decides what TRex does with a SYN without a template.

With `response_bytes` a client sends HTTP requests to a real server at `port`; the response has this
many bytes, headers included.
"""

import argparse
import ipaddress
import os

from trex.astf.api import *

MESSAGE = b"x" * 100
GET = b"GET / HTTP/1.1\r\nHost: 48.0.0.1\r\nUser-Agent: " + b"x" * 52 + b"\r\n\r\n"
NOBODY = "48.255.0."  # server templates' addresses that no client uses, one for each group
PORTS = {"established": 8001, "flood": 8002, "probe": 8003, "half_open": 8004}
IDLE_BEFORE_PROBE = 7200  # idle seconds before a keepalive probe, as RFC 1122 4.2.3.6 says


def asks(times=1, pause_us=0, hold_us=0, response_bytes=0):
    """A client that sends `times` requests, with a pause between them."""
    client = ASTFProgram()
    if times > 1:
        client.set_var("left", times)
        client.set_label("again:")
    client.send(GET if response_bytes else MESSAGE)
    client.recv(response_bytes or len(MESSAGE), clear=True)
    if pause_us:
        client.delay(pause_us)
    if times > 1:
        client.jmp_nz("left", "again:")
    if hold_us:
        client.delay(hold_us)
    return client


def answers(times=1):
    """A server that answers `times` requests, and lets the client close."""
    server = ASTFProgram()
    if times > 1:
        server.set_var("left", times)
        server.set_label("again:")
    server.recv(len(MESSAGE), clear=True)
    server.send(MESSAGE)
    if times > 1:
        server.jmp_nz("left", "again:")
    server.wait_for_peer_close()
    return server


def over_ipv6(tuning, args):
    """Use IPv6 if there are prefixes: the last 32 bits of each address are the IPv4 address."""
    if args.client_prefix:
        tuning.ipv6.enable = 1
        tuning.ipv6.src_msb = args.client_prefix
        tuning.ipv6.dst_msb = args.server_prefix


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


class StateExhaustion:
    """One of the four groups. Rates are per second at multiplier 1."""

    def create_profile(self, args):
        addresses = ASTFIPGen(
            glob=ASTFIPGenGlobal(ip_offset="1.0.0.0"),
            dist_client=ASTFIPGenDist(ip_range=args.clients.split("-"), distribution="seq"),
            dist_server=ASTFIPGenDist(ip_range=args.servers.split("-"), distribution="seq"),
        )
        tuning = ASTFGlobalInfo()
        tuning.tcp.keepidle = IDLE_BEFORE_PROBE
        over_ipv6(tuning, args)
        times = int(args.seconds / args.pause_seconds)
        if times < 1:
            raise ValueError("seconds must be at least pause_seconds = %g" % args.pause_seconds)

        length = args.response_bytes
        client, server = {
            "established": (asks(times, int(args.pause_seconds * 1e6), 0, length), answers(times)),
            "flood": (asks(hold_us=int(args.hold_seconds * 1e6), response_bytes=length), answers()),
            "half_open": (asks(), answers()),
            "probe": (asks(response_bytes=length), answers()),
        }[args.group]
        # Without a limit the argument is left out, because TRex needs a number.
        limited = {"limit": args.flows} if args.flows else {}
        port, association = PORTS[args.group], {}
        unanswered = args.group == "half_open"
        if unanswered:
            tuning.tcp.blackhole = 1  # no reset for a SYN to a port that no template answers at
            if args.hold_seconds < 1:
                raise ValueError("hold_seconds of half_open must be at least 1")
            tuning.tcp.keepinit = int(args.hold_seconds)
        if length or unanswered:
            nobody = NOBODY + str(sorted(PORTS).index(args.group))
            association = {"ip_start": nobody, "ip_end": nobody}
            port = port if unanswered else args.port
        return ASTFProfile(
            default_ip_gen=addresses,
            default_c_glob_info=tuning,
            default_s_glob_info=tuning,
            templates=ASTFTemplate(
                client_template=ASTFTCPClientTemplate(
                    program=client, ip_gen=addresses, port=port, cps=args.cps, **limited
                ),
                server_template=ASTFTCPServerTemplate(
                    program=server, assoc=ASTFAssociationRule(port=port, **association)
                ),
                tg_name=args.group,
            ),
        )

    def get_profile(self, tunables, **kwargs):
        parser = argparse.ArgumentParser(
            description="Argparser for {}".format(os.path.basename(__file__)),
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        parser.add_argument(
            "--group", choices=sorted(PORTS), default="probe", help="the group to run"
        )
        parser.add_argument(
            "--flows", type=bounded(int, 0, 1e9), default=0, help="limit of flows; 0: no limit"
        )
        parser.add_argument(
            "--cps",
            type=bounded(float, 1e-6, 1e9),
            default=50,
            help="connections opened per second",
        )
        parser.add_argument(
            "--pause_seconds",
            type=bounded(float, 1e-6, 86400),
            default=0.25,
            help="pause between requests",
        )
        parser.add_argument(
            "--seconds",
            type=bounded(float, 0, 86400),
            default=20,
            help="duration of established flows",
        )
        parser.add_argument(
            "--hold_seconds",
            type=bounded(float, 0, 86400),
            default=6,
            help="hold time of a flow of the flood",
        )
        parser.add_argument(
            "--response_bytes",
            type=bounded(int, 0, 1e9),
            default=0,
            help="whole HTTP response; 0: TRex is the server",
        )
        parser.add_argument(
            "--port", type=bounded(int, 1, 65535), default=80, help="port of the HTTP server"
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
        return self.create_profile(parser.parse_args(tunables))


def register():
    return StateExhaustion()
