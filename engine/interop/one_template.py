"""What the profiles of both interoperability matrices have in common: the template around it."""

from trex.astf.api import (
    ASTFAssociationRule,
    ASTFIPGen,
    ASTFIPGenDist,
    ASTFIPGenGlobal,
    ASTFProfile,
    ASTFTCPClientTemplate,
    ASTFTCPServerTemplate,
    ASTFTemplate,
)


def one_template(client, server, tuning, args):
    """The profile of one template: `args.limit` flows at `args.cps` to `args.port`."""
    addresses = ASTFIPGen(
        glob=ASTFIPGenGlobal(ip_offset="1.0.0.0"),
        dist_client=ASTFIPGenDist(ip_range=["16.0.0.1", "16.0.0.100"], distribution="seq"),
        dist_server=ASTFIPGenDist(ip_range=["48.0.0.1", "48.0.0.1"], distribution="seq"),
    )
    tuning.tcp.keepinit = 30
    return ASTFProfile(
        default_ip_gen=addresses,
        default_c_glob_info=tuning,
        default_s_glob_info=tuning,
        templates=ASTFTemplate(
            client_template=ASTFTCPClientTemplate(
                program=client, ip_gen=addresses, port=args.port, cps=args.cps, limit=args.limit
            ),
            server_template=ASTFTCPServerTemplate(
                program=server, assoc=ASTFAssociationRule(port=args.port)
            ),
        ),
    )
