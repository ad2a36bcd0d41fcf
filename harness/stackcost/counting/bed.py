"""The test bed inside a counting guest: the namespaces, addresses and settings of the usual one."""

from stackcost.bed.network import INITIAL_WINDOW
from stackcost.contracts.addresses import LOAD_ADDRESS, SERVER_ADDRESS
from stackcost.contracts.tuning import Tier
from stackcost.contracts.wiring import (
    LOAD_INTERFACE,
    LOAD_NAMESPACE,
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
ip netns exec {server} ethtool -K {server_end} gro on
ip netns exec {server} sh -c 'echo 1 >/sys/class/net/{server_end}/threaded'
sysctl -qw kernel.sched_rt_runtime_us=-1
for tries in 1 2 3 4 5 6 7 8 9; do pgrep napi/ >/dev/null && break; sleep 0.01; done
chrt --fifo --pid 2 $(pgrep napi/)
"""
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
POLL_TASK = f"napi/{SERVER_INTERFACE}"[:15]  # the kernel cuts names


def bed_script(kernel_stack: bool, workload: Workload, tier: Tier) -> str:
    """The commands that make the bed. `kernel_stack`: the server's end gets addresses.

    They print a line for each setting of the tier that the guest's kernel lacks or refuses.
    """
    text = (BED + (ADDRESSES if kernel_stack else "")).format(
        load=LOAD_NAMESPACE,
        server=SERVER_NAMESPACE,
        load_end=LOAD_INTERFACE,
        server_end=SERVER_INTERFACE,
        address=SERVER_ADDRESS,
        service=workload.server,
        clients=workload.client_network,
        gateway=LOAD_ADDRESS,
        window=INITIAL_WINDOW[workload.tcp],
    )
    for name, setting in tier.sysctls.items():
        if not setting.left:
            # What a namespace lacks is of the whole machine, and that is this guest's own.
            value = f"{name}='{setting.value}'"
            here = f"ip netns exec {SERVER_NAMESPACE} sysctl -qw {value} 2>/dev/null"
            anywhere = f"sysctl -qw {value} 2>/dev/null"
            text += f"{here} || {anywhere} || echo '{NOT_SET}{name}'\n"
    return text
