"""A second ASTF server, which only answers: the user-space peer."""

from stackcost.servers.astf_peer.server import AstfPeer as AstfPeer
