"""Traffic of all kinds at once: transfers, loops, aborts by either end, silence, datagrams."""

import argparse

from trex.astf.api import (
    ASTFAssociationRule,
    ASTFGlobalInfo,
    ASTFIPGen,
    ASTFIPGenDist,
    ASTFIPGenGlobal,
    ASTFProfile,
    ASTFProgram,
    ASTFTCPClientTemplate,
    ASTFTCPServerTemplate,
    ASTFTemplate,
)

KEEPALIVE_MS = 300


def pair(stream=True):
    """Programs of a client and of a server."""
    return ASTFProgram(stream=stream), ASTFProgram(stream=stream)


def transfer(size):
    """A request and a response."""
    client, server = pair()
    client.send(b"GET")
    client.recv(size)
    server.recv(3)
    server.send(b"response", size=size)
    return client, server


def loop(size):
    """Ten of them, one after the other."""
    client, server = pair()
    for program in (client, server):
        program.set_var("left", 10)
        program.set_label("again:")
    client.send(b"again")
    client.recv(size, clear=True)
    server.recv(5, clear=True)
    server.send(b"answer", size=size)
    for program in (client, server):
        program.jmp_nz("left", "again:")
    server.wait_for_peer_close()
    return client, server


def client_aborts(size):
    """The client resets the connection in the middle of the response."""
    client, server = pair()
    client.send(b"GET", size=2000)
    client.delay_rand(100, 20_000)
    client.reset()
    server.recv(2000)
    server.send(b"never read", size=10 * size)
    return client, server


def server_aborts(size):
    """The server resets it while the client waits."""
    client, server = pair()
    client.send(b"GET")
    client.recv(10 * size)
    server.recv(3)
    server.send(b"a part", size=size)
    server.delay_rand(100, 20_000)
    server.reset()
    return client, server


def silence():
    """The server says nothing and closes."""
    client, server = pair()
    client.send(b"anybody?")
    client.wait_for_peer_close()
    server.recv(8)
    server.delay(50_000)
    return client, server


def datagrams():
    """An echo that may be lost; idle flows end by themselves."""
    client, server = pair(stream=False)
    for program in (client, server):
        program.set_keepalive_msg(KEEPALIVE_MS)
    client.send_msg(b"ping")
    client.recv_msg(1)
    server.recv_msg(1)
    server.send_msg(b"pong")
    return client, server


class Soak:
    """A template for each kind, in equal shares."""

    def create_profile(self, args):
        """The profile for parsed arguments."""
        addresses = ASTFIPGen(
            glob=ASTFIPGenGlobal(ip_offset="1.0.0.0"),
            dist_client=ASTFIPGenDist(ip_range=["16.0.0.1", "16.0.0.200"], distribution="rand"),
            dist_server=ASTFIPGenDist(ip_range=["48.0.0.1", "48.0.0.10"], distribution="seq"),
        )
        kinds = [
            transfer(args.size),
            loop(args.size // 10 + 1),
            client_aborts(args.size),
            server_aborts(args.size),
            silence(),
            datagrams(),
        ]
        templates = [
            ASTFTemplate(
                client_template=ASTFTCPClientTemplate(
                    program=client, ip_gen=addresses, port=5000 + number, cps=args.cps / len(kinds)
                ),
                server_template=ASTFTCPServerTemplate(
                    program=server, assoc=ASTFAssociationRule(port=5000 + number)
                ),
            )
            for number, (client, server) in enumerate(kinds)
        ]
        return ASTFProfile(
            default_ip_gen=addresses,
            default_c_glob_info=tuning(args),
            default_s_glob_info=tuning(args),
            templates=templates,
        )

    def get_profile(self, tunables, **kwargs):
        """The profile for arguments as the client passes them."""
        parser = argparse.ArgumentParser(description="Traffic of all kinds at once")
        parser.add_argument("--size", type=int, default=10_000, help="bytes of a response")
        parser.add_argument("--cps", type=float, default=1000, help="flows per second of all kinds")
        parser.add_argument("--cubic", type=int, default=0, help="CUBIC instead of NewReno")
        parser.add_argument("--sack", type=int, default=1)
        parser.add_argument("--ecn", type=int, default=0)
        return self.create_profile(parser.parse_args(tunables))


def tuning(args):
    """TCP's settings, of both ends."""
    info = ASTFGlobalInfo()
    info.tcp.cc_algo = args.cubic
    info.tcp.do_sack = args.sack
    info.tcp.do_ecn = args.ecn
    return info


def register():
    """What the client asks for."""
    return Soak()
