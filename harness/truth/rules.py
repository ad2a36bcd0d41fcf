"""An nftables rule set of known length, whose cost per packet is found without any tracepoint.

None of its rules matches, so each packet is compared with all of them, in the softirq that receives
it. They stand once in a chain that is walked many times, by a chain of jumps that is itself walked
many times: so little memory that the cost does not hang on what else is in the caches. It is
calibrated by the clock of a program that sends to itself over
loopback in the same namespace on the same core.
"""

import json

from harness.testbed.namespace import execute
from harness.truth.least_time import SEND_TO_SELF, least_microseconds

TABLE = "stackcost"
CHAIN_RULES = 20
JUMPS = 10  # walks of the chain for each jump to the chain of jumps


def load_rules(namespace: str, walks: int) -> None:
    """Compare everything that comes in with the chain's rules `walks` times; 0 removes all.

    `walks` is a multiple of JUMPS.
    """
    text = f"table ip {TABLE}\ndelete table ip {TABLE}\n"
    if walks:
        rules = "\n".join(["ip saddr 203.0.113.1 drop"] * CHAIN_RULES)  # RFC 5737: nobody's
        inner = "\n".join(["jump rules"] * JUMPS)
        outer = "\n".join(["jump walks"] * (walks // JUMPS))
        hook = "type filter hook input priority 0;"
        text += f"table ip {TABLE} {{\nchain rules {{\n{rules}\n}}\nchain walks {{\n{inner}\n}}\n"
        text += f"chain input {{\n{hook}\ncounter\n{outer}\n}}\n}}\n"
    execute(namespace, ["nft", "-f", "-"], stdin=text)


def packets(namespace: str) -> int:
    """Packets that met the rules so far, by nftables' own counter."""
    answer = json.loads(execute(namespace, ["nft", "-j", "list", "chain", "ip", TABLE, "input"]))
    parts = [
        part for entry in answer["nftables"] if "rule" in entry for part in entry["rule"]["expr"]
    ]
    return int(next(part["counter"]["packets"] for part in parts if "counter" in part))


def cost_per_packet(namespace: str, cpu: int, walks: int) -> float:
    """Microseconds that the rules add to the receipt of one packet on a core."""
    times = []
    for number in (0, walks):
        load_rules(namespace, number)
        times.append(least_microseconds(namespace, cpu, *SEND_TO_SELF))
    return times[1] - times[0]
