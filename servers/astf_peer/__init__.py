"""A second ASTF server, which only answers: the user-space peer."""

from servers.astf_peer.server import AstfPeer as AstfPeer
