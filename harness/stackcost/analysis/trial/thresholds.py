"""Every limit by which trials are distrusted, and verdicts are given.

They stand in one place so that two parts of the suite cannot answer one question differently.
"""

# --- Comparing two series (stackcost.analysis.comparing.comparison) ---

# Of comparisons of identical set-ups, as a whole, this share is called different at most.
RATE = 0.01
# How often a difference of the size that a comparison states as detectable is shown.
POWER = 0.9
# An interval holds the truth in at least this share of all repetitions, where rounds are enough.
CONFIDENCE = 0.95
# Of the tests by ranks, at the least, where a t test has 1 (Hodges and Lehmann, 1956).
EFFICIENCY = 108 / 125
# Values of both sides up to which the Mann-Whitney test is exact; beyond it the normal
# approximation is as good.
EXACT_UP_TO = 60

# --- Two measurements of the same thing (comparison over runs, gate) ---

# Deviation of a whole measurement around what the same set-up gives at another time, as a share,
# until a history tells it: two measurements of the same nginx here differed by 1 to 3 %.
BETWEEN_MEASUREMENTS = 0.02
# Measurements from which a history tells it.
HISTORY_NEEDED = 5

# --- Counts of instructions (stackcost.analysis.comparing.comparison) ---

# By how much counts of one system differ at most, as a share, in different boots of the guest
# (docs/counting.md has what was seen).
COUNTS_DIFFER = 0.002

# --- What neighbours on the host add (slowed, undisturbed) ---

# Known work takes up to 1 % longer than its least on a core that nothing disturbs. A slice of time
# in which it took this much longer was slowed.
SLOWED_LIMIT = 0.02
# Seconds of a trial that nothing slowed; with less, its cost is that of the whole trial.
UNDISTURBED_LEAST_S = 1.0

# --- Memory of open flows (memory_total) ---

# By how much the flows that were held may differ from those that were asked for, and the sockets of
# a flow from a whole number, as shares: beyond it a slope is of something else than a flow.
HELD_LIMIT = 0.05
SOCKETS_LIMIT = 0.05

# --- Percentiles of latency ---

# Connections of a trial that are beyond a percentile of the tail, for it to be told: with fewer it
# is the time of single connections.
BEYOND_PERCENTILE = 10

# --- Whether a server was past its ceiling (overload, flows) ---

# Of a core, by the server: beyond it there is no time left for a burst.
SERVER_BUSY_LIMIT = 0.90
# Of the connections, as the partial drop rate of a search allows.
LOST_LIMIT = 0.005
# Of what is offered; a server that completes less has reached its ceiling.
KEPT_UP = 0.95

# --- Whether a trial's figures are to be trusted (checks, http) ---

# Of a limit that a server was granted: beyond it there was none left for a burst.
REACHED = 0.98
# Of the generator's cores, as CSIT keeps its own.
GENERATOR_BUSY_LIMIT = 0.80
# Of the time of a TLS handshake after the SYN-ACK: what it waited for the generator's core.
TLS_WAIT_LIMIT = 0.25
# Of all connections: by how much a generator's part of what was opened may differ from its plan.
PART_LIMIT = 0.01
# Of connections, started more than 1 ms after their time. Reading the collectors every second
# beside the generator makes 1 to 2 % late where both share a core, by a tick of the kernel's.
LATE_LIMIT = 0.03
# Share of the server's cores that other programs took; above it a run flags and repeats the trial.
FOREIGN_LIMIT = 0.02
SUSPENDED_LIMIT_S = 0.1
# What is read under load may end so long after its last new connection: the last ones still end.
OVERRUN_LIMIT_S = 0.1
# Of the window that figures are of: how exactly the clocks of two hosts have to be compared.
CLOCK_LIMIT = 0.01
# Of one core's time: it is inside the cost of what ran there.
STEAL_LIMIT = 0.01
# Of the rate in the sustain window, by seconds. The rate of a closed loop varies with the machine.
VARIATION_LIMIT = 0.05
CLOSED_LOOP_VARIATION_LIMIT = 0.10
# Of the sustain window, in which an HTTP client was stopped, or waited for its core.
CLIENT_STOPPED_LIMIT = 0.02
CLIENT_WAITED_LIMIT = 0.10
# Of each side's cores, in a closed loop: with both below it, its connections wait for neither.
CLOSED_LOOP_BUSY_LIMIT = 0.50
# Completed against offered, as RFC 9411 section 7 asks of the sustain phase.
RATE_TOLERANCE = 0.05
# Of handshakes, that continue a session where a load asks for it. The first ones have none yet, and
# a server may let one ticket be used once.
RESUMED_SHARE = 0.5
# Of NET_RX time that has to be on the server's cores.
RECEIVE_SHARE = 0.95

# --- What a gate judges (stackcost.gate) ---

# Of the server's cores, taken by other programs; above it a gate leaves the trial out.
GATE_FOREIGN_LIMIT = 0.10
# Trials that can be judged; with fewer, the gate cannot tell.
GATE_LEAST_JUDGED = 4

# --- Why a connection costs what it costs (why) ---

# Share of the time in functions of no category: above it there is no breakdown.
UNMATCHED_LIMIT = 0.03
# Samples of the server's tasks in a window that divide their time into user and system. The
# standard error of the share is then at most 9 points; a traced warm-up is wrong by 12 and more.
SHARE_SAMPLES = 30
