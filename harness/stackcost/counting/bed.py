"""The test bed inside a counting guest: the namespaces, addresses and settings of the usual one."""

from stackcost.bed.network import INITIAL_WINDOW
from stackcost.contracts.addresses import (
    BACKEND_ADDRESS,
    CLIENT_ADDRESS,
    DUT_SERVER_ADDRESS,
    LOAD_ADDRESS,
    SERVER_ADDRESS,
)
from stackcost.contracts.placement import BackendPlace
from stackcost.contracts.tuning import Tier
from stackcost.contracts.wiring import (
    LOAD_INTERFACE,
    LOAD_NAMESPACE,
    NAMESPACE_PREFIX,
    SERVER_INTERFACE,
    SERVER_NAMESPACE,
)
from stackcost.experiment.schema import Workload

# The order in which tasks run is fixed: the server's interface is polled first, then comes the
# generator (FIRST), then all others. So what a client sends at once has arrived when the server
# runs, as from another machine, and no history of the scheduler decides how often it wakes.
FIRST = ("chrt", "--fifo", "1")
# As stackcost.bed.network makes it: GRO at the server, and so no TSO at the generator, which lets a
# thread poll the server's queue.
BED = """set -e
ip netns add {load}
ip netns add {server}
ip link add {load_end} netns {load} type veth peer name {server_end} netns {server}
for namespace in {load} {server}; do
  ip netns exec $namespace sysctl -qw net.ipv6.conf.all.disable_ipv6=1
  ip -n $namespace link set lo up
done
ip -n {load} link set {load_end} up
ip -n {server} link set {server_end} up
ip netns exec {load} ethtool -K {load_end} tso off
sysctl -qw kernel.sched_rt_runtime_us=-1
polled() {{
  ip netns exec {server} ethtool -K $1 gro on
  ip netns exec {server} sh -c "echo 1 >/sys/class/net/$1/threaded"
  for tries in 1 2 3 4 5 6 7 8 9; do pgrep napi/$1 >/dev/null && break; sleep 0.01; done
  chrt --fifo --pid 2 $(pgrep napi/$1)
}}
polled {server_end}
"""
# Backends are behind the server, as a server is behind a device: the time of neither link is the
# other's, and the generator sees no frame of theirs. Both ends keep their neighbour for ever.
BACKENDS = """ip netns add {backend}
ip link add {backend_end} netns {backend} type veth peer name {upstream_end} netns {server}
ip netns exec {backend} sysctl -qw net.ipv6.conf.all.disable_ipv6=1
ip -n {backend} link set lo up
ip -n {backend} link set {backend_end} up
ip -n {server} link set {upstream_end} up
ip netns exec {backend} ethtool -K {backend_end} tso off
polled {upstream_end}
ip -n {backend} addr add {backend_address}/24 dev {backend_end}
ip -n {server} addr add {upstream_address}/24 dev {upstream_end}
address() {{ ip netns exec $1 cat /sys/class/net/$2/address; }}
ip -n {server} neigh replace {backend_address} dev {upstream_end} nud permanent \
  lladdr $(address {backend} {backend_end})
ip -n {backend} neigh replace {upstream_address} dev {backend_end} nud permanent \
  lladdr $(address {server} {upstream_end})
"""
BACKEND_NAMESPACE = f"{NAMESPACE_PREFIX}backend"
BACKEND_INTERFACE, UPSTREAM_INTERFACE = "sc-backend0", "sc-server1"
BACKEND_PLACE = BackendPlace(BACKEND_NAMESPACE, BACKEND_INTERFACE, (0,), BACKEND_ADDRESS, prefix=24)
# For a while the kernel's stack is the client of a server that has a stack of its own.
KERNEL_CLIENT = f"""set -e
ip netns exec {LOAD_NAMESPACE} sysctl -qw net.ipv4.conf.{LOAD_INTERFACE}.arp_announce=1
ip -n {LOAD_NAMESPACE} addr add {LOAD_ADDRESS}/24 dev {LOAD_INTERFACE}
ip -n {LOAD_NAMESPACE} addr add {CLIENT_ADDRESS}/32 dev {LOAD_INTERFACE}
ip -n {LOAD_NAMESPACE} route add {{service}} via {SERVER_ADDRESS} src {CLIENT_ADDRESS}
"""
NO_KERNEL_CLIENT = f"ip -n {LOAD_NAMESPACE} addr flush dev {LOAD_INTERFACE}"
ADDRESSES = """ip -n {server} addr add {address}/24 dev {server_end}
ip -n {server} addr add {service}/32 dev {server_end}
ip -n {server} route add {clients} via {gateway} initcwnd {window}
"""
# The kernel asks again for a neighbour's address after 15 to 45 s, at random, and until the answer
# each frame costs more (neigh_resolve_output). The generator has asked for the server's at its
# start, so the server has its address from then on, and keeps it for ever.
NEIGHBOUR = f"""set -e
ask="ip -n {SERVER_NAMESPACE} neigh"
for tries in $(seq 100); do
  known=$($ask show {LOAD_ADDRESS} dev {SERVER_INTERFACE} | sed -n 's/.*lladdr \\([^ ]*\\).*/\\1/p')
  [ "$known" ] && break
  sleep 0.01
done
$ask change {LOAD_ADDRESS} lladdr $known nud permanent dev {SERVER_INTERFACE}
"""
# AF_XDP gives a stack its frames before the kernel would complete their checksums, which the
# generator's packet socket leaves to it.
WHOLE_CHECKSUMS = f"ip netns exec {LOAD_NAMESPACE} ethtool -K {LOAD_INTERFACE} tx off"
NOT_SET = "not set: "
# The kernel cuts names.
POLL_TASKS = {f"napi/{each}"[:15] for each in (SERVER_INTERFACE, UPSTREAM_INTERFACE)}


def bed_script(kernel_stack: bool, workload: Workload, tier: Tier, backends: bool = False) -> str:
    """The commands that make the bed. `kernel_stack`: the server's end gets addresses. `backends`:
    they have a place behind the server.

    They print a line for each setting of the tier that the guest's kernel lacks or refuses.
    """
    parts = BED, ADDRESSES if kernel_stack else "", BACKENDS if backends else ""
    text = "".join(parts).format(
        load=LOAD_NAMESPACE,
        server=SERVER_NAMESPACE,
        load_end=LOAD_INTERFACE,
        server_end=SERVER_INTERFACE,
        address=SERVER_ADDRESS,
        service=workload.server,
        clients=workload.client_network,
        gateway=LOAD_ADDRESS,
        window=INITIAL_WINDOW[workload.tcp],
        backend=BACKEND_NAMESPACE,
        backend_end=BACKEND_INTERFACE,
        upstream_end=UPSTREAM_INTERFACE,
        backend_address=BACKEND_ADDRESS,
        upstream_address=DUT_SERVER_ADDRESS,
    )
    for name, setting in tier.sysctls.items():
        if not setting.left:
            # What a namespace lacks is of the whole machine, and that is this guest's own.
            value = f"{name}='{setting.value}'"
            here = f"ip netns exec {SERVER_NAMESPACE} sysctl -qw {value} 2>/dev/null"
            anywhere = f"sysctl -qw {value} 2>/dev/null"
            text += f"{here} || {anywhere} || echo '{NOT_SET}{name}'\n"
    return text
