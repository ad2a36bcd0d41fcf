"""A request and a response over IPv6: clients 2001:db8::1000:1 on, server 2001:db8:1::3000:1."""

from trex.astf.api import (
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

REQUEST = b"GET / HTTP/1.1\r\nHost: [2001:db8:1::3000:1]\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 32000\r\n\r\n"
BODY_BYTES = 32000


class HttpIpv6:
    def get_profile(self, tunables, **kwargs):
        client = ASTFProgram()
        client.send(REQUEST)
        client.recv(len(HEAD) + BODY_BYTES)
        server = ASTFProgram()
        server.recv(40)  # any request, curl's too
        server.send(HEAD + b"x" * BODY_BYTES)
        addresses = ASTFIPGen(
            glob=ASTFIPGenGlobal(ip_offset="1.0.0.0"),
            dist_client=ASTFIPGenDist(ip_range=["16.0.0.1", "16.0.0.9"]),
            dist_server=ASTFIPGenDist(ip_range=["48.0.0.1", "48.0.0.1"]),
        )
        tuning = ASTFGlobalInfo()
        tuning.ipv6.enable = 1
        tuning.ipv6.src_msb = "2001:db8::"
        tuning.ipv6.dst_msb = "2001:db8:1::"
        template = ASTFTemplate(
            client_template=ASTFTCPClientTemplate(program=client, ip_gen=addresses, cps=100),
            server_template=ASTFTCPServerTemplate(program=server),
        )
        return ASTFProfile(default_ip_gen=addresses, default_c_glob_info=tuning, templates=template)


def register():
    return HttpIpv6()
