"""Which of the kernel's slab caches a TCP connection of a server is made of.

All caches are stored and shown. Only these are counted: others, such as inodes of /proc and of file
systems, grow with time whatever the machine does, and the counts of open flows ascend with time.
"""

from collections.abc import Mapping, Sequence

# Made per connection by: net/ipv4/tcp*.c and net/socket.c; fs/file_table.c and fs/dcache.c, as
# every socket is a file; fs/eventpoll.c; security/security.c; net/core/skbuff.c; net/netfilter.
CONNECTION_CACHES = frozenset(
    {
        "TCP",
        "TCPv6",
        "request_sock_TCP",
        "tw_sock_TCP",
        "tcp_bind_bucket",
        "tcp_bind2_bucket",
        "sock_inode_cache",
        "filp",
        "dentry",
        "eventpoll_epi",
        "eventpoll_pwq",
        "ep_head",
        "lsm_inode_cache",
        "lsm_file_cache",
        "skbuff_head_cache",
        "skbuff_small_head",
        "skbuff_fclone_cache",
        "nf_conntrack",
    }
)
UNNAMED = "kmalloc-"  # what has no cache of its own


def is_of_connection(cache: str, merged: Mapping[str, Sequence[str]]) -> bool:
    """Whether a cache, or one that the kernel merged with it, holds objects of a connection.

    `merged`: by cache, the other names of its slabs (`stackcost.collect.slab.merged_caches`).
    """
    names = {cache, *merged.get(cache, ())}
    return cache.startswith(UNNAMED) or bool(names & CONNECTION_CACHES)
