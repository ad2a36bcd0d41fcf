"""A small server of the suite's own, with rustls and the cryptography of AWS-LC."""

from stackcost.servers.rustls.server import Rustls as Rustls
