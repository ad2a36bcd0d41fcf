"""Names of roles that several parts of the suite know."""

from typing import Literal

# Of the kernel's threads that poll a system's interfaces, before their number.
POLL_ROLE = "receive-poll"
# Which server is behind a device: the generator's, or nginx on the kernel's stack.
Backend = Literal["engine", "nginx"]
