"""Names of roles of processes that several parts of the suite know."""

# Of the kernel's threads that poll a system's interfaces, before their number.
POLL_ROLE = "receive-poll"
