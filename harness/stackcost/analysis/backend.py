"""CPU time of the processes of the server behind a device, and of its interface's poll threads.

On the device's cores it is a part of the cost of device and server together, which is that of the
cores (`stackcost.analysis.cpu`). On the generator's cores it is all that is known of the server.
Softirqs cannot be divided between those who share a core, so they are in no figure of it.
"""

from collections import defaultdict
from collections.abc import Collection

from stackcost.analysis.core_time import Cost, user_mode_share
from stackcost.analysis.cpu import per_connection
from stackcost.analysis.readings import Readings
from stackcost.contracts.roles import POLL_ROLE

KINDS = ("user", "system", "receive polls")


def backend_cost(seen: Readings, cpus: Collection[int]) -> Cost:
    """Microseconds of the server behind a device per completed connection, by kind.

    `cpus`: the cores on which it runs. "user" and "system" are its processes',
    "receive polls" the kernel's threads for its interface. Empty if there is no such server.
    """
    roles = {s.labels["process"]: s.labels["role"] for s in seen.samples("backend.cpu_time")}
    if not roles:
        return {}
    threads = {process for process, role in roles.items() if role.startswith(POLL_ROLE)}
    spent: dict[str, float] = defaultdict(float)
    for cpu in cpus:
        for process, seconds in seen.by_label("task.time", "process", cpu=str(cpu)).items():
            spent[process] += seconds
    own = sum(seconds for process, seconds in spent.items() if process in roles.keys() - threads)
    share = user_mode_share(seen, cpus, roles.keys() - threads)
    if share is None:
        user, system = (
            sum(
                seen.growth("backend.cpu_time", process=process, kind=kind) or 0.0
                for process in roles.keys() - threads
            )
            for kind in ("user", "system")
        )
        share = user / (user + system) if user + system else None
    if not spent or share is None:
        return dict.fromkeys(KINDS)
    polls = sum(spent[process] for process in threads) if threads else None
    parts = {"user": own * share, "system": own * (1 - share), "receive polls": polls}
    return per_connection(seen, parts)
