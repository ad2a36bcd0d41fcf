"""What the factors between two systems are; `stackcost.analysis.factors` computes them."""

from stackcost.analysis.figures.figure import Declared

CPU = Declared(
    name="factor.cpu",
    unit="1",
    definition="ratio of server_cpu_total by round: the median over any two rounds of their mean "
    "ratio (Hodges and Lehmann); the interval contains the true value in the stated share of "
    "cases: 95 % or more from 6 rounds on, 50 % with 2 rounds, 87.5 % with 4 rounds",
    source="server_cpu_total",
    of="pair",
)
CPU_WITH_KERNEL = Declared(
    name="factor.cpu.with_kernel",
    unit="1",
    definition="the least that it can be against a polling peer: the ratio to server_cpu_total and "
    "beside_polling together, all that the peer's side takes",
    source="server_cpu_total, beside_polling",
    of="pair",
)
CPU_WITHOUT_SENDING = Declared(
    name="factor.cpu.without_sending",
    unit="1",
    definition="the most that it can be against a polling peer: the ratio to its stack alone "
    "(server_cpu.stack), without what handing frames to the link took",
    source="server_cpu_total, server_cpu.stack",
    of="pair",
)
MEMORY = Declared(
    name="factor.memory",
    unit="1",
    definition="the same for memory.total",
    source="memory.total",
    of="pair",
)
