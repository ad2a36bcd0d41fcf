"""Packets routed into a TUN device come back out of it later: what reorders them among the others.

Usage: delay_line.py DEVICE MILLISECONDS, in the router's namespace.
"""

import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

# linux/if_tun.h
TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
LONGEST = 65536


def main(device: str, held_s: float) -> None:
    """Until killed."""
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TUN | IFF_NO_PI))
    held: deque[tuple[float, bytes]] = deque()
    while True:
        patience = max(held[0][0] - time.monotonic(), 0) if held else None
        readable, _, _ = select.select([tun], [], [], patience)
        if readable:
            held.append((time.monotonic() + held_s, os.read(tun, LONGEST)))
        while held and held[0][0] <= time.monotonic():
            os.write(tun, held.popleft()[1])


main(sys.argv[1], float(sys.argv[2]) / 1000)
