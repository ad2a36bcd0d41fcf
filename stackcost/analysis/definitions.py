"""What every figure of a summary is, and where its parts were read; the reports print this."""

from stackcost.analysis.summary import Definition

DEFINITIONS = {
    "offered_cps": Definition(
        unit="1/s",
        definition="connections per second that the generator starts by its schedule, whether "
        "or not earlier ones have ended (open loop)",
        source="the experiment file; TRex ASTF cps x multiplier",
    ),
    "completed_cps": Definition(
        unit="1/s",
        definition="connections that were opened, fully served and closed during the sustain "
        "window, per second",
        source="generator: tcps_closed less tcps_drops, tcps_conndrops, tcps_testdrops",
    ),
    "server_cpu.user": Definition(
        unit="us",
        definition="time of the server's processes in user mode on its cores, per completed "
        "connection",
        source="exact time of the processes by tracepoint sched:sched_switch, without softirq and "
        "interrupts; divided into user and system by the ratio of utime and stime, /proc/PID/stat",
    ),
    "server_cpu.system": Definition(
        unit="us",
        definition="time of the server's processes in system calls on its cores, and of the "
        "kernel's threads there that poll its interface or run softirqs (napi, ksoftirqd; where "
        "connections were tracked, also kworker), without softirq and interrupts, per completed "
        "connection",
        source="as user",
    ),
    "server_cpu.irq": Definition(
        unit="us",
        definition="time of the server's cores in hardware interrupts, per completed connection",
        source="tracepoints irq:irq_handler_* and irq_vectors:*",
    ),
    "server_cpu.softirq": Definition(
        unit="us",
        definition="time of the server's cores in softirq, all vectors, per completed connection",
        source="tracepoints irq:softirq_entry and irq:softirq_exit",
    ),
    "server_cpu.busy": Definition(
        unit="us",
        definition="time that a polling peer's loop spent in iterations that did work, per "
        "completed connection; empty iterations are idle time and not included",
        source="the peer's own time stamp counter: stackcost_get_cpu; for TRex its own account of "
        "its data cores: get_utilization",
    ),
    "server_cpu.sending": Definition(
        unit="us",
        definition="the part of a polling peer's busy time in the calls that pass its frames to "
        "the port's device; with a kernel interface these calls copy and deliver the frames, which "
        "a NIC does itself",
        source="the peer's own time stamp counter: stackcost_get_cpu",
    ),
    "server_cpu.stack": Definition(
        unit="us",
        definition="the rest of a polling peer's busy time: receiving, TCP and its program",
        source="server_cpu.busy less server_cpu.sending",
    ),
    "server_cpu_total": Definition(
        unit="us",
        definition="sum over the kinds of the server's side, without the generator's cost",
        source="the kinds above",
    ),
    "undisturbed": Definition(
        unit="s",
        definition="undisturbed time of the sustain window: slices of 0.1 s in which known "
        "work on the server's cores took at most 2 % more than its minimum, so nothing outside "
        "the machine slowed them; if it is 1 s or more, server_cpu, server_cpu_total, softirq "
        "and threads use only this time, otherwise the whole window",
        source="the known work of stackcost/collect/core_speed.c, the CPU account, a peer's "
        "stackcost_get_cpu, each read ten times a second",
    ),
    "energy": Definition(
        unit="J",
        definition="energy of all processor packages in the sustain window for a million completed "
        "connections; the generator's part and idle cores are included",
        source="/sys/class/powercap/intel-rapl:*/energy_uj",
    ),
    "packets": Definition(
        unit="1",
        definition="packets at the server's interface, both ways, per completed connection; "
        "unknown where the interface has TSO and a frame may hold several segments",
        source="/proc/net/dev of the server's namespace, without loopback",
    ),
    "load_time": Definition(
        unit="ns",
        definition="duration of a load from memory that no program of this machine keeps in a "
        "core's own caches; it shows how busy the shared caches and the memory of the host are",
        source="stackcost/collect/core_speed.c, over the whole sustain window",
    ),
    "behind_cpu": Definition(
        unit="us",
        definition="time of the server behind a device per completed connection: its processes in "
        "user and system mode, and the threads that poll its interface; softirqs of the cores that "
        "it shares are not included. On the device's cores it is a part of server_cpu, elsewhere "
        "it is not",
        source="tracepoint sched:sched_switch, divided as server_cpu.user; threads napi/*",
    ),
    "beside_polling": Definition(
        unit="us",
        definition="kernel time on a polling peer's cores per completed connection: softirq, and "
        "the threads that poll its interface; the wire's cost, as a veth copies frames in the "
        "kernel where a NIC would by DMA; part of it interrupts busy iterations and is in "
        "server_cpu.busy already, so it is not added",
        source="tracepoints irq:softirq_*, sched:sched_switch (threads napi/*)",
    ),
    "softirq": Definition(
        unit="us",
        definition="time of the server's cores in softirq by vector, per completed connection: the "
        "parts of server_cpu.softirq",
        source="tracepoints irq:softirq_entry and irq:softirq_exit",
    ),
    "threads": Definition(
        unit="us",
        definition="time of the server's cores by thread, without softirqs and interrupts "
        "that interrupt it, per completed connection; other programs are listed, too",
        source="tracepoint sched:sched_switch",
    ),
    "hardware": Definition(
        unit="1",
        definition="cycles and instructions of the server's cores, per completed connection; for a "
        "polling peer empty polls are included",
        source="perf_event_open on each core",
    ),
    "closure": Definition(
        unit="1",
        definition="exact time of all kinds over all cores / (wall time x cores); stolen "
        "time is part of the kind that it interrupted",
        source="cpu.exact_time",
    ),
    "onload.k_polls": Definition(
        unit="1/s",
        definition="how often Onload's code in the kernel looked into the event queues, per second "
        "of the sustain window: by interrupts, timers, and system calls of programs that wait",
        source="onload.counter k_polls, summed over its stacks",
    ),
    "onload.u_polls": Definition(
        unit="1/s",
        definition="how often Onload's library in the programs did; a program that spins does so "
        "all the time, with and without connections, and all of it counts as busy",
        source="onload.counter u_polls, summed over its stacks",
    ),
    "onload.rx_evs": Definition(
        unit="1/s",
        definition="events of received packets that these polls found; over k_polls and u_polls "
        "together, with tx_evs, events per poll: near 0 of a stack that spins in vain",
        source="onload.counter rx_evs, summed over its stacks",
    ),
    "onload.tx_evs": Definition(
        unit="1/s",
        definition="events of sent packets that these polls found",
        source="onload.counter tx_evs, summed over its stacks",
    ),
    "generator_cpu": Definition(
        unit="us",
        definition="the generator's own busy loop time, all softirq on its cores, and the threads "
        "that pass the veth's frames to it, per completed connection; never part of the server's "
        "cost; these parts overlap and are not added",
        source="stackcost_get_cpu of the generator; softirq.time; task.time of napi/*",
    ),
    "generator_busy": Definition(
        unit="1",
        definition="share of the generator's loop time spent in iterations that did work",
        source="stackcost_get_cpu of the generator",
    ),
    "receive_share": Definition(
        unit="1",
        definition="share of the machine's receive work that ran on the server's cores: NET_RX "
        "softirq anywhere, and the threads that poll an interface on the server's cores",
        source="softirq.time, vector NET_RX; task.time of napi/*",
    ),
    "latency": Definition(
        unit="us",
        definition="time from a connection's intended start by the open-loop schedule to the "
        "SYN-ACK (connect), the first payload (first_byte), and the end of the client's program, "
        "with the whole response received (completion); percentiles of the connections that "
        "reached this point in the sustain window",
        source="stackcost_get_latency of the generator, histograms of two significant figures",
    ),
    "memory.per_flow": Definition(
        unit="B",
        definition="slope of a least-squares line through memory over the number of flows held "
        "open; memory that was reserved before is part of the line's intercept",
        source="kernel slab: /proc/slabinfo, caches with objects of a connection; socket buffers: "
        "/proc/net/sockstat TCP mem; process: /proc/PID/smaps_rollup Pss of the server's "
        "processes; engine pools: objects in use x their size, stackcost_get_memory",
    ),
    "memory.at_no_flow": Definition(
        unit="B",
        definition="intercept of the same line: memory without any connection; of the "
        "kernel's kinds it is the whole machine's",
        source="as memory.per_flow",
    ),
    "memory.total": Definition(
        unit="B",
        definition="sum of the slopes of the kinds in `counted`; a peer's flows are in its "
        "pools, inside its process or in hugepages, so the process is shown but not added, and "
        "the kernel's memory over a peer's flows is only noise",
        source="as memory.per_flow",
    ),
    "memory.straightness": Definition(
        unit="1",
        definition="coefficient of determination of that line: 1 when every point is on it",
        source="as memory.per_flow",
    ),
    "memory.caches": Definition(
        unit="B",
        definition="slope of one slab cache of the kernel over the number of flows held open",
        source="/proc/slabinfo: whole slabs of the cache",
    ),
    "factor.cpu": Definition(
        unit="1",
        definition="ratio of server_cpu_total by round: the median over any two rounds of their "
        "mean ratio (Hodges and Lehmann); the interval contains the true value in the stated "
        "share of cases: 95 % or more from 6 rounds on, 50 % with 2 rounds, 87.5 % with 4 rounds",
        source="server_cpu_total",
    ),
    "factor.cpu.with_kernel": Definition(
        unit="1",
        definition="the least that it can be against a polling peer: the ratio to server_cpu_total "
        "and beside_polling together, all that the peer's side takes",
        source="server_cpu_total, beside_polling",
    ),
    "factor.cpu.without_sending": Definition(
        unit="1",
        definition="the most that it can be against a polling peer: the ratio to its stack alone "
        "(server_cpu.stack), without what handing frames to the link took",
        source="server_cpu_total, server_cpu.stack",
    ),
    "factor.memory": Definition(
        unit="1",
        definition="the same for memory.total",
        source="memory.total",
    ),
}
