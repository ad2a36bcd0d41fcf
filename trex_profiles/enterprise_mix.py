"""Mixed traffic of an enterprise network, from captures. Each application is a template group.

The ratios of flows per second are those of the SFR mix that TRex ships
(scripts/avl/sfr_delay_10_1g.yaml, cps). web is its browsing, GETs and POSTs; mail its exchange, POP
and SMTP; db its Oracle; rtp its RTP, video and SIP calls; idle its Citrix sessions. All together
are scaled to `cps` flows per second at multiplier 1. The mix is from a time with little TLS:
`tls_share` moves that share of the web flows to TLS. pcaps/make_enterprise.py says what one flow of
each application does.
"""

import argparse
import ipaddress
import math
import os

from trex.astf.api import *

FLOWS_PER_SECOND = {
    "dns": 1975.015,
    "web": 709.89 + 404.52 + 404.52,
    "mail": 253.81 + 3 * 4.759 + 3 * 7.3369,
    "tls": 130.8745,
    "db": 79.3178,
    "rtp": 2.776 + 1.982 + 11.8976 + 29.347,
    "idle": 43.6248,
}


IDLE_PORT = 5222


def capture_of(name):
    """The path of a capture that pcaps/make_enterprise.py writes."""
    return "../pcaps/enterprise_%s.pcap" % name


def staying(addresses, cps, seconds):
    """The capture of the idle session; its client waits `seconds` before it closes."""
    client = ASTFProgram(file=capture_of("idle"), side="c")
    client.delay(int(seconds * 1e6))
    server = ASTFProgram(file=capture_of("idle"), side="s")
    server.wait_for_peer_close()
    return ASTFTemplate(
        client_template=ASTFTCPClientTemplate(
            program=client, ip_gen=addresses, port=IDLE_PORT, cps=cps
        ),
        server_template=ASTFTCPServerTemplate(
            program=server, assoc=ASTFAssociationRule(port=IDLE_PORT)
        ),
        tg_name="idle",
    )


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


class EnterpriseMix:
    """One capture for each application. The server's port is the port in the capture."""

    def create_profile(self, args):
        addresses = ASTFIPGen(
            glob=ASTFIPGenGlobal(ip_offset="1.0.0.0"),
            dist_client=ASTFIPGenDist(ip_range=args.clients.split("-"), distribution="seq"),
            dist_server=ASTFIPGenDist(ip_range=args.servers.split("-"), distribution="seq"),
        )
        moved = FLOWS_PER_SECOND["web"] * args.tls_share
        flows = dict(
            FLOWS_PER_SECOND,
            web=FLOWS_PER_SECOND["web"] - moved,
            tls=FLOWS_PER_SECOND["tls"] + moved,
        )
        tuning = ASTFGlobalInfo()
        over_ipv6(tuning, args)
        whole = math.fsum(flows.values())  # exact: sum() differs in the last bit before Python 3.12
        return ASTFProfile(
            default_ip_gen=addresses,
            default_c_glob_info=tuning,
            default_s_glob_info=tuning,
            cap_list=[
                ASTFCapInfo(file=capture_of(name), cps=args.cps * rate / whole, tg_name=name)
                for name, rate in flows.items()
                if rate and name != "idle"
            ],
            templates=staying(addresses, args.cps * flows["idle"] / whole, args.idle_seconds),
        )

    def get_profile(self, tunables, **kwargs):
        parser = argparse.ArgumentParser(
            description="Argparser for {}".format(os.path.basename(__file__)),
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        parser.add_argument(
            "--cps",
            type=bounded(float, 1e-6, 1e9),
            default=1,
            help="flows per second, all together",
        )
        parser.add_argument(
            "--tls_share",
            type=bounded(float, 0, 1),
            default=0.0,
            help="share of web flows that use TLS, 0 to 1",
        )
        parser.add_argument(
            "--idle_seconds",
            type=bounded(float, 0, 86400),
            default=10,
            help="duration of an idle session",
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
            "--servers", type=address_range, default="48.0.0.1-48.0.0.4", help="server addresses"
        )
        parser.add_argument(
            "--server_prefix", type=ipv6_prefix, default="", help="IPv6 prefix for the servers"
        )
        return self.create_profile(parser.parse_args(tunables))


def register():
    return EnterpriseMix()
