"""One HTTP request and response per TCP connection, taken from a capture.

pcaps/http_32k.pcap has a request of 100 bytes and a response of 32,000 bytes, headers included. The
sizes are those of the capture, so the server must send exactly these bytes, as an ASTF peer does.
http_program.py is the same traffic with sizes as tunables.
"""

import argparse
import ipaddress
import os

from trex.astf.api import *

TWO_SEGMENTS = 2 * 1448  # bytes of payload: the MSS is 1460, and timestamps take 12


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


class HttpCapture:
    """One capture. Client addresses take turns; each connection has a new source port."""

    def create_profile(self, args):
        addresses = ASTFIPGen(
            glob=ASTFIPGenGlobal(ip_offset="1.0.0.0"),
            dist_client=ASTFIPGenDist(ip_range=args.clients.split("-"), distribution="seq"),
            dist_server=ASTFIPGenDist(ip_range=args.servers.split("-"), distribution="seq"),
        )
        tuning = tcp_settings(args.tcp == "published")

        return ASTFProfile(
            default_ip_gen=addresses,
            default_c_glob_info=tuning,
            default_s_glob_info=tuning,
            cap_list=[
                ASTFCapInfo(file="../pcaps/http_32k.pcap", cps=args.cps, port=args.port),
            ],
        )

    def get_profile(self, tunables, **kwargs):
        parser = argparse.ArgumentParser(
            description="Argparser for {}".format(os.path.basename(__file__)),
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        parser.add_argument(
            "--port", type=bounded(int, 1, 65535), default=80, help="server's TCP port"
        )
        parser.add_argument(
            "--clients", type=address_range, default="16.0.0.1-16.0.0.200", help="client addresses"
        )
        parser.add_argument(
            "--servers", type=address_range, default="48.0.0.1-48.0.0.1", help="server addresses"
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
    return HttpCapture()
