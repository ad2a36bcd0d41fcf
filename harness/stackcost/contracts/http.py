"""HTTP as clients and servers agree on it: its versions, and what certificates are made of."""

from typing import Literal, TypeAlias

# RFC 9112, RFC 9113 and RFC 9114. 2 and 3 are used over TLS alone, as browsers use them.
HttpVersion: TypeAlias = Literal["1.1", "2", "3"]
Certificate: TypeAlias = Literal["rsa-2048", "p-256"]  # the key of a server's certificate
RSA: Certificate = "rsa-2048"
P256: Certificate = "p-256"
