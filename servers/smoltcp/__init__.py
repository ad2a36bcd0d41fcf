"""A small server of the suite's own in Rust, on the TCP stack smoltcp."""

from stackcost.servers.smoltcp.server import Smoltcp as Smoltcp
