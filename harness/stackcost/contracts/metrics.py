"""The metrics that figures are made of: collectors yield samples of them, and analysis reads those.

A metric that only people read is declared by its collector. docs/metrics.md defines each.
"""

from stackcost.contracts.sample import Kind, Metric

WARM_UP = "tracepoints raw_syscalls:*, in the warm-up"
SAMPLING = "perf_event_open PERF_COUNT_SW_CPU_CLOCK, bpf_get_stack"
KNOWN_WORK = "known work every 50 ms (core_speed.c)"
COUNTING = "executions of translated blocks in an emulated guest (QEMU's TCG, a plugin)"
ALLOCATIONS = "tracepoints kmem:kmem_cache_alloc, kmalloc, kmem_cache_free, kfree; bpf_get_stackid"
SWITCHING = "tracepoint sched:sched_switch"

COUNTER, GAUGE = Kind.COUNTER, Kind.GAUGE

CPU_TIME = Metric("cpu.time", "s", COUNTER, "/proc/stat")
CPU_EXACT_TIME = Metric(
    "cpu.exact_time",
    "s",
    COUNTER,
    "tracepoints irq:*, irq_vectors:*, sched:sched_switch, power:cpu_idle",
)
CPU_TRACED_TIME = Metric("cpu.traced_time", "s", GAUGE, WARM_UP)
IRQ_COUNT = Metric("irq.count", "1", COUNTER, "tracepoints irq:irq_handler_entry, irq_vectors")
IRQ_TIME = Metric("irq.time", "s", COUNTER, "tracepoints irq:irq_handler_*, irq_vectors")
SOFTIRQ_TIME = Metric("softirq.time", "s", COUNTER, "tracepoints irq:softirq_entry, _exit")
TASK_TIME = Metric("task.time", "s", COUNTER, SWITCHING)
TASK_TRACED_TIME = Metric("task.traced_time", "s", GAUGE, WARM_UP)
STACK_FIRED = Metric("stack.fired", "1", COUNTER, SAMPLING)
STACK_SAMPLES = Metric("stack.samples", "1", COUNTER, SAMPLING)
CORE_MEMORY_READ_TIME = Metric("core.memory_read_time", "s", COUNTER, KNOWN_WORK)
CORE_SYSTEM_CALL_TIME = Metric("core.system_call_time", "s", COUNTER, KNOWN_WORK)
CORE_WORK_COUNT = Metric("core.work_count", "1", COUNTER, KNOWN_WORK)
CORE_WORK_LEAST = Metric("core.work_least", "s", GAUGE, KNOWN_WORK)
CORE_WORK_TIME = Metric("core.work_time", "s", COUNTER, KNOWN_WORK)
CPU_CYCLES = Metric("cpu.cycles", "1", COUNTER, "perf_event_open PERF_COUNT_HW_CPU_CYCLES")
CPU_INSTRUCTIONS = Metric(
    "cpu.instructions", "1", COUNTER, "perf_event_open PERF_COUNT_HW_INSTRUCTIONS"
)
ENERGY_USED = Metric("energy.used", "J", COUNTER, "/sys/class/powercap/intel-rapl:*/energy_uj")
MACHINE_GUEST = Metric("machine.guest", "1", GAUGE, "/proc/cpuinfo, /sys/class/dmi/id/product_name")
KERNEL_LOG_MESSAGES = Metric("kernel_log.messages", "1", COUNTER, "/dev/kmsg")
THREAD_BLOCKED_TIME = Metric("thread.blocked_time", "s", COUNTER, SWITCHING)
SOFTNET_DROPPED = Metric("softnet.dropped", "1", COUNTER, "/proc/net/softnet_stat column 2")
CONNTRACK_ENTRIES = Metric("conntrack.entries", "1", GAUGE, "nf_conntrack_count")
INTERFACE_BYTES = Metric("interface.bytes", "B", COUNTER, "/proc/net/dev")
INTERFACE_PACKETS = Metric("interface.packets", "1", COUNTER, "/proc/net/dev")
IP_COUNTER = Metric("ip.counter", "1", COUNTER, "/proc/net/snmp Ip and Icmp, /proc/net/snmp6")
NEIGHBOUR_UNRESOLVED = Metric("neighbour.unresolved", "1", GAUGE, "/proc/net/arp")
SOCKSTAT_MEMORY = Metric("sockstat.memory", "B", GAUGE, "/proc/net/sockstat mem x page size")
SOCKSTAT_SOCKETS = Metric("sockstat.sockets", "1", GAUGE, "/proc/net/sockstat")
TCP_COUNTER = Metric("tcp.counter", "1", COUNTER, "/proc/net/snmp, /proc/net/netstat")
CONNTRACK_EVENTS = Metric("conntrack.events", "1", COUNTER, "/proc/net/stat/nf_conntrack")
CONNTRACK_LIMIT = Metric("conntrack.limit", "1", GAUGE, "nf_conntrack_max")
SLAB_ACTIVE = Metric("slab.active", "1", GAUGE, "/proc/slabinfo active_objs")
SLAB_BYTES = Metric("slab.bytes", "B", GAUGE, "/proc/slabinfo num_slabs x pagesperslab")
SLAB_OBJECTS = Metric("slab.objects", "1", GAUGE, "/proc/slabinfo num_objs")
SLAB_LEFT = Metric("slab.left", "1", GAUGE, ALLOCATIONS)
SLAB_PASSED = Metric("slab.passed", "1", GAUGE, ALLOCATIONS)
BACKEND_CPU_TIME = Metric("backend.cpu_time", "s", COUNTER, "/proc/PID/stat utime, stime")
BACKEND_PSS = Metric("backend.pss", "B", GAUGE, "/proc/PID/smaps_rollup Pss")
BACKEND_SOCKETS = Metric("backend.sockets", "1", GAUGE, "/proc/PID/net/sockstat TCP inuse")
PROCESS_CPU_TIME = Metric("process.cpu_time", "s", COUNTER, "/proc/PID/stat utime, stime")
PROCESS_PSS = Metric("process.pss", "B", GAUGE, "/proc/PID/smaps_rollup Pss")
SERVER_REQUESTS = Metric("server.requests", "1", COUNTER, "counted by the server itself")
CACHE_MISSES = Metric("cache.misses", "1", COUNTER, "requests counted by the origin")
PROCESS_DISK_READ = Metric("process.disk_read", "B", COUNTER, "/proc/PID/io read_bytes")
ENGINE_BUSY_TIME = Metric(
    "engine.busy_time", "s", COUNTER, "RPC stackcost_get_cpu busy_cycles / tsc_hz"
)
ENGINE_COPYING_TIME = Metric(
    "engine.copying_time", "s", COUNTER, "RPC stackcost_get_cpu copying_cycles / tsc_hz"
)
ENGINE_DROPS = Metric("engine.drops", "1", COUNTER, "RPC stackcost_get_drops")
ENGINE_PATH_MTU = Metric("engine.path_mtu", "B", GAUGE, "RPC stackcost_get_drops path_mtu, least")
ENGINE_PATH_MTU_MESSAGES = Metric(
    "engine.path_mtu_messages", "1", COUNTER, "RPC stackcost_get_drops path_mtu, accepted"
)
ENGINE_POOL_IN_USE = Metric(
    "engine.pool_in_use", "B", GAUGE, "RPC stackcost_get_memory in_use x object_bytes"
)
ENGINE_POOL_RESERVED = Metric(
    "engine.pool_reserved", "B", GAUGE, "RPC stackcost_get_memory reserved_bytes"
)
ENGINE_SENDING_TIME = Metric(
    "engine.sending_time", "s", COUNTER, "RPC stackcost_get_cpu sending_cycles / tsc_hz"
)
ENGINE_TIME = Metric("engine.time", "s", COUNTER, "RPC stackcost_get_cpu total_cycles / tsc_hz")
TREX_COUNTER = Metric("trex.counter", "1", COUNTER, "TRex get_stats() traffic")
TREX_GROUP_COUNTER = Metric("trex.group_counter", "1", COUNTER, "TRex get_traffic_tg_stats()")
ENGINE_LATENCY = Metric("engine.latency", "s", GAUGE, "RPC stackcost_get_latency")
COUNT_INSTRUCTIONS = Metric("count.instructions", "1", COUNTER, COUNTING)
COUNT_STRING_BYTES = Metric("count.string_bytes", "B", COUNTER, COUNTING)
COUNT_SYSTEM_CALLS = Metric("count.system_calls", "1", COUNTER, COUNTING)
ONLOAD_COUNTER = Metric("onload.counter", "1", COUNTER, "orm_json stats")

# Words in labels: the kinds of the idle task's time outside of idle states; what the roles of the
# kernel's threads that poll a system's interfaces begin with; and what stands in a stack in the
# place of a function's name.
IDLE_TASK = ("idle entry", "idle exit")
POLL_ROLE = "receive-poll"
UNNAMED = "[unknown]"
RETURNS = "[return of a system call]"  # behind a function of a program: one returns there
