"""What to do about a disturbance, by its cause. Stored runs have the causes as words."""

import re

PROGRAMS = "End the other programs, or measure at another time"
HOST = (
    "The host of this machine, or a neighbour on it, slows the cores: measure at another time, or "
    "on a machine without neighbours"
)
GENERATOR = (
    "Lower the load, give the generator more cores (cores.load), or end what else runs on them"
)
CLIENTS = "Give the clients more cores (cores.load), or end what else runs on them"
AWAKE = "Keep the machine awake: systemd-inhibit --what=sleep COMMAND"
STOPPED = "End the program that stopped it (SIGSTOP)"
LIMIT = "End the program that changes the limit"
OTHERWISE = "Measure at another time"

REMEDIES = {
    r"other programs (took|used)": PROGRAMS,
    r"stolen by the hypervisor|the hypervisor (took|used)": HOST,
    r"slower than at full speed|slowed the server's cores|never reached the speed": HOST,
    r"machine was suspended": AWAKE,
    r"busy, above|of the connections, its part|not started|started later|the generator began|"
    r"fell inside the": GENERATOR,
    r"a client waited for its core": CLIENTS,
    r"a client was stopped": STOPPED,
    r"another program changed it": LIMIT,
}


def remedy(cause: str) -> str:
    """What helps against a cause of `analysis.flags.disturbances`, or one of the gate's."""
    found = (words for pattern, words in REMEDIES.items() if re.search(pattern, cause))
    return next(found, OTHERWISE)
