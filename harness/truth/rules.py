"""An nftables rule set of known length, whose cost per packet is found without any tracepoint.

None of its rules matches, so each packet is compared with all of them, in the softirq that receives
it. They stand once in a chain that is walked many times, by a chain of jumps that is itself walked
many times: so little memory that the cost does not hang on what else is in the caches. It is
calibrated by the clock of a program that sends to itself over
loopback in the same namespace on the same core: its packets are received inside of its own
system calls, and the least time of many batches is without interruptions.
"""

import json
import subprocess
import sys

from harness.errors import StackcostError
from harness.testbed.namespace import execute, run

TABLE = "stackcost"
CHAIN_RULES = 20
JUMPS = 10  # walks of the chain for each jump to the chain of jumps
BATCH, BATCHES = 100, 40
# Prints the least microseconds per packet of BATCHES batches.
SEND = f"""
import socket, time
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
to.bind(("127.0.0.1", 0))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect(to.getsockname())
least = float("inf")
for _ in range({BATCHES}):
    began = time.perf_counter()
    for _ in range({BATCH}):
        sender.send(b"x")
    least = min(least, time.perf_counter() - began)
print(least / {BATCH} * 1e6)
"""


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
        times.append(_microseconds_per_packet(namespace, cpu))
    return times[1] - times[0]


def _microseconds_per_packet(namespace: str, cpu: int) -> float:
    command = [sys.executable, "-S", "-c", SEND]
    process = run(namespace, command, [cpu], stdout=subprocess.PIPE, text=True)
    said, _ = process.communicate(timeout=60)
    if process.returncode:
        raise StackcostError(f"the calibration of the rules failed in {namespace}")
    return float(said)
