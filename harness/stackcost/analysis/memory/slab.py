"""Which of the kernel's slab caches a TCP connection of a server is made of.

All caches are stored and shown. Only these are counted: others, such as inodes of /proc and of file
systems, grow with time whatever the machine does. Two caches hold an object for each socket and one
for each file that anything on the machine has looked up. Of these, as many objects are counted as
there are sockets.
"""

from collections.abc import Mapping, Sequence

# Made per connection by: net/ipv4/tcp*.c, net/mptcp and net/socket.c; fs/file_table.c and
# fs/dcache.c, as every socket is a file; fs/eventpoll.c; security/security.c; net/core/skbuff.c;
# net/netfilter.
CONNECTION_CACHES = frozenset(
    {
        "TCP",
        "TCPv6",
        "MPTCP",
        "MPTCPv6",
        "request_sock_TCP",
        "request_sock_subflow_v4",
        "request_sock_subflow_v6",
        "tw_sock_TCP",
        "tcp_bind_bucket",
        "tcp_bind2_bucket",
        "sock_inode_cache",
        "filp",
        "eventpoll_epi",
        "eventpoll_pwq",
        "ep_head",
        "lsm_file_cache",
        "skbuff_head_cache",
        "skbuff_small_head",
        "skbuff_fclone_cache",
        "nf_conntrack",
    }
)
# One object for each inode or name of a file. A socket has one of each (net/socket.c,
# sock_alloc_file; security/security.c, lsm_inode_alloc). All others are of files: a program that
# lists /proc/PID/fd makes them for each of a server's sockets again.
FILE_CACHES = frozenset({"dentry", "lsm_inode_cache"})
SOCKETS = "sock_inode_cache"  # never merged: it has a constructor
UNNAMED = "kmalloc-"  # what has no cache of its own
NAMES_OF_FILES = "kmalloc-rcl-"  # reclaimable: of files alone


def is_of_connection(cache: str, merged: Mapping[str, Sequence[str]]) -> bool:
    """Whether a cache, or one that the kernel merged with it, holds objects of a connection.

    `merged`: by cache, the other names of its slabs (`stackcost.collect.slab.merged_caches`).
    """
    return _is_whole(cache, merged) or bool(_names(cache, merged) & FILE_CACHES)


def connection_bytes(
    sizes: Mapping[str, float],
    objects: Mapping[str, float],
    sockets: float | None,
    merged: Mapping[str, Sequence[str]],
) -> dict[str, float]:
    """Bytes of connections by cache.

    `sizes`, `objects`: of the whole cache, by its name. `sockets`: objects in use of
    `SOCKETS`; None where it was not read, and then all of a cache of files is counted.
    """
    found = {}
    for cache, size in sizes.items():
        if _is_whole(cache, merged):
            found[cache] = size
        elif _names(cache, merged) & FILE_CACHES:
            count = objects.get(cache)
            found[cache] = size if sockets is None or not count else sockets * size / count
    return found


def _is_whole(cache: str, merged: Mapping[str, Sequence[str]]) -> bool:
    unnamed = cache.startswith(UNNAMED) and not cache.startswith(NAMES_OF_FILES)
    return unnamed or bool(_names(cache, merged) & CONNECTION_CACHES)


def _names(cache: str, merged: Mapping[str, Sequence[str]]) -> set[str]:
    return {cache, *merged.get(cache, ())}
