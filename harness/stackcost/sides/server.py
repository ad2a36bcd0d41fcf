"""A server on this machine, started by this process, and everything next to it."""

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from stackcost.bed.local import HalfBed, LocalTestbed
from stackcost.bed.network import remove_namespace
from stackcost.bed.tuning import Tuning, layout
from stackcost.collect.core_speed import CoreSpeed
from stackcost.collect.cpu import CpuTime
from stackcost.collect.cpu_account import CpuAccount, Detail
from stackcost.collect.energy import Energy
from stackcost.collect.guest import Guest
from stackcost.collect.hardware import HardwareCounters
from stackcost.collect.kernel_log import KernelLog
from stackcost.collect.machine import namespace_settings
from stackcost.collect.network import Network
from stackcost.collect.process import BackendProcesses, Processes
from stackcost.collect.sampler import Sampler
from stackcost.collect.slab import Slab
from stackcost.collect.slab_owners import SlabOwners
from stackcost.collect.softnet import Softnet
from stackcost.collect.stack_samples import StackSamples
from stackcost.contracts.addresses import IpVersion
from stackcost.contracts.collector import Collector, MeasuredServer
from stackcost.contracts.counts import Clock, Limits, StackCheck, Usage
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.profile_file import ProfileFile
from stackcost.contracts.server import Server
from stackcost.contracts.stack import KERNEL, Stack, When
from stackcost.contracts.tuning import CONGESTION_CONTROL
from stackcost.contracts.wiring import End, Wiring
from stackcost.experiment.collectors import collector_class
from stackcost.host.cores import allowed_cores
from stackcost.host.kernel_tables import counter_table, interfaces
from stackcost.host.liveness import check_lives
from stackcost.host.namespace import execute
from stackcost.host.open_files import open_files
from stackcost.host.steering import ReceiveWork
from stackcost.host.timeouts import timeout_factor
from stackcost.remote.stub import called
from stackcost.sides.plans import ServerPlan
from stackcost.sides.sampling import Interface, Sampling
from stackcost.stacks import stack_of

SAMPLE_INTERVAL_S = 1.0
START_LIMIT_S = 180.0  # for a server that starts several times, and a bed


class RunningServer:
    """A server that runs, its bed, its stack and its tuning.

    `processes`: the server's and its stack's, by role. `name`: of the server. `ip_version`: of its
    clients. `wiring`: its test bed. `folder`: logs of its programs. `plan`: what was asked of it.
    `host`: the description of its machine by the name that the controller has for it; empty on the
    controller's machine.

    Arguments and results of public methods are plain data, so a server may be on another host
    (`stackcost.hosts`), or on a device that nothing can be asked of (`external`). The
    stubs there are made of this class, so a method is written here only.
    """

    def __init__(
        self,
        bed: LocalTestbed,
        tuning: Tuning,
        stack: Stack,
        server: Server,
        folder: Path,
        plan: ServerPlan,
        host: Mapping[str, Any] | None = None,
    ):
        self.bed = bed
        self.tuning = tuning
        self.stack = stack
        self.server = server
        self.name = server.name
        self.ip_version: IpVersion = server.ip_version
        self.wiring = bed.wiring
        self.processes: dict[str, int] = {}
        self._folder = folder
        self._own = [collector_class(each) for each in plan.collectors]
        self._host = dict(host or {})
        self._sample_stacks = plan.sample_stacks

    def response_length(self) -> int:
        """Bytes (headers and body) of one response, as probed from the running server."""
        return self.server.response_length()

    def probe_request(self) -> bytes | None:
        """A request by which only the load's side can probe the server; None: none is needed.

        The length of its response is then that of all, in place of `response_length`.
        """
        return self.server.probe_request()

    def check(self) -> None:
        """StackcostError that names the part that has ended or is stopped: a process of the server,
        of its stack or of its backends.
        """
        for role, process in (self.processes | self.server.depends_on()).items():
            check_lives(
                process, f"{self.name} has failed: its {role}", f"see its log in {self._folder}"
            )

    @contextmanager
    def sampling(self, others: Sequence[Collector], detail: Detail) -> Iterator[Sampling]:
        """Inside, everything of this side is read periodically, and the `others` with it.

        `others`: collectors of this process, such as the generator's. `detail`: how detailed CPU
        time is measured. One thread reads all collectors, on the load's cores.
        """
        self.processes = self.server.processes() | self.stack.processes()
        cpus = self.bed.cpus
        collectors = [
            *machine_collectors(
                self.bed.server_namespace,
                cpus.server,
                self.processes,
                detail,
                cpus.server if self._sample_stacks else (),
            ),
            *others,
            *([BackendProcesses(self.server.depends_on())] if self.wiring.server else []),
            *self.server.own_collectors(),
            *self.stack.own_collectors(),
            *(kind(self._for_own_collectors()) for kind in self._own),
        ]
        with Sampler(collectors, SAMPLE_INTERVAL_S, cpus.load) as sampler:
            yield sampler

    def _for_own_collectors(self) -> MeasuredServer:
        return MeasuredServer(
            self.bed.server_namespace, tuple(self.bed.cpus.server), lambda: self.processes
        )

    def clocks(self) -> dict[str, Clock]:
        """The clock of each other host that samples come from, compared with this one now."""
        return {}

    def before_trial(self) -> dict[str, float]:
        """Bring the server into the initial state of every trial; returns it for the record."""
        return self.server.before_trial()

    @called(limit_s=START_LIMIT_S)
    def serve(self, profile: ProfileFile, tunables: Mapping[str, Any]) -> None:
        """Serve this profile from now on; most servers answer any request and need nothing."""
        self.server.serve(profile, tunables)

    def check_stack(self, when: When) -> None:
        """Record which stack carries the connections now; call it in the order of `When`."""
        self.stack.check_stack(when, self.processes)

    def stack_check(self, idle: bool) -> StackCheck | None:
        """What carried the connections of the last trial. `idle`: it had no connection.

        None of a device whose stack is its own.
        """
        return self.stack.stack_check(idle)

    def requests_served(self) -> int | None:
        """Requests since start by the server's own count; None if it has none, or is silent."""
        return self.server.requests_served()

    def sampled_statuses(self) -> dict[str, int] | None:
        """Statuses of HTTP of some requests made now; None where no program here can ask."""
        return self.server.sampled_statuses()

    def refusals(self) -> dict[str, int] | None:
        """Connections that the server refused since start, by reason; None if it is silent."""
        return self.server.refusals()

    def limits(self, port: int) -> Limits:
        """What is used and what is granted at this moment. `port`: of the listeners.

        `refused` is left out, because it is counted over the whole trial.
        """
        queue = self.stack.accept_queue(self.wiring.serving, port)
        return Limits(
            open_files=self._open_files(),
            accept_queue=None if isinstance(queue, str) else queue,
            tracked_connections_limit=self._tracked_limit(),
            no_accept_queue=queue if isinstance(queue, str) else "",
        )

    def frames(self) -> list[Interface | None]:
        """Of each interface under test; then of a server behind a device, if there is one.

        None for an interface that cannot be read. Empty for a device that passes no frames on, such
        as a proxy.
        """
        if not self.server.passes_frames:
            return []
        behind = self.wiring.ends[-1:] if self.wiring.server else ()
        return [_frames(end) for end in (*self.wiring.tested, *behind)]

    def dead_timeout_s(self) -> int | None:
        """How long a dead connection stays in the tracking table; None if there is no table."""
        return self.server.dead_timeout_s()

    def reset(self) -> None:
        """Forget all connections of the load, so that the next trial starts as the last did."""
        self.server.reset()

    def cut_link(self) -> None:
        """Set the link of a device to the servers down, for good; its polling threads end too."""
        self.processes = {}
        namespace, interface = self.wiring.tested[-1]
        execute(namespace, ["ip", "link", "set", interface, "down"])

    def remove_device(self) -> None:
        """Remove a device and its links, and so the generator's ports at their ends.

        StackcostError if its interfaces are those of a host, which nothing can remove.
        """
        if self.bed.is_half:
            raise StackcostError("a device on interfaces of a host cannot be removed")
        self.processes = {}
        remove_namespace(self.bed.server_namespace)

    def open_connections(self) -> int:
        """TCP connections that the kernel's stack of the server holds open (Tcp CurrEstab).

        None where the generator has both ends: those in its namespace are not of the load.
        """
        if not (self.wiring.tested or self.wiring.server):
            return 0
        text = execute(self.wiring.serving, ["cat", "/proc/net/snmp"])
        return counter_table(text, "Tcp")["CurrEstab"]

    def end_connections(self, port: int) -> None:
        """Reset all connections of the kernel's stack to this port (INET_DIAG_DESTROY)."""
        command = ["ss", "-K", "-Hnt", "state", "established", f"sport = :{port}"]
        execute(self.wiring.serving, command)

    def describe(self) -> dict[str, Any]:
        """`test_bed` and `server`, for the manifest."""
        hosts = {"hosts": self._host} if self._host else {}
        return {
            "test_bed": self.bed.describe()
            | {"sysctls": namespace_settings(self.bed.server_namespace)}
            | hosts,
            "server": self.server.describe()
            | {
                "tuning": self.tuning.describe(),
                "stack": self.stack.describe(),
                "congestion_control": self._congestion_control(),
            },
        }

    def _congestion_control(self) -> str:
        """Of whom the load's connections are with, in words."""
        if own := self.server.congestion_control() or self.stack.congestion_control:
            return own
        ends_here = self.wiring.serving if self.server.passes_frames else self.wiring.namespace
        return namespace_settings(ends_here)[CONGESTION_CONTROL]

    def _open_files(self) -> dict[str, Usage]:
        found = {}
        for role, number in self.server.processes().items():
            try:
                limit = psutil.Process(number).rlimit(psutil.RLIMIT_NOFILE)[0]
                found[role] = Usage(now=open_files(number), limit=limit)
            except (psutil.Error, FileNotFoundError, StackcostError):
                continue
        return found

    def _tracked_limit(self) -> int | None:
        path = "/proc/sys/net/netfilter/nf_conntrack_max"
        text = execute(self.bed.server_namespace, ["sh", "-c", f"cat {path} 2>/dev/null || true"])
        return int(text) if text.strip() else None


@contextmanager
def local_server(
    kind: type[Server],
    plan: ServerPlan,
    folder: Path,
    say: Callable[[str], None],
    host: Mapping[str, Any] | None = None,
) -> Iterator[RunningServer]:
    """Test bed up, tier set, stack ready, server up and healthy; all undone on exit.

    `folder` takes the configuration and logs of the server. `say`: shows what is being done.
    `host`: see `RunningServer`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if missing := kind.missing_program():
        say(f"building {missing}, once; this takes some minutes")
        kind.build()
    say("making the test bed")
    settings = plan.settings
    tier, wiring = settings.tier, kind.wiring_for(settings)
    device_cpus, backend_cpus = backend_cores(plan, wiring)
    receive_cpus, program_cpus = layout(tier.receive, device_cpus)
    bed_of_tier = LocalTestbed(
        _beside(plan.server_cpus) if plan.interfaces else plan.load_cpus,
        plan.server_cpus,
        wiring=wiring,
        kernel_server=kind.kernel_stack or wiring.server is not None,
        packet_server=kind.packet_socket,
        server_receive=ReceiveWork(
            receive_cpus, tier.receive.poll_threads, tier.receive.packet_steering
        ),
        service_address=plan.address,
        service_port=plan.port,
        client_network=plan.client_network,
        initial_window=plan.initial_window,
        wanted_hugepages=plan.wanted_hugepages,
        backend_cpus=backend_cpus,
        may_share=plan.may_share,
        part=HalfBed("server", plan.interfaces, plan.neighbours) if plan.interfaces else None,
        gateways=plan.gateways,
    )
    with (
        timeout_factor(plan.timeout_factor),
        bed_of_tier as bed,
        Tuning(tier, bed.server_namespace) as tuning,
    ):
        endpoint = dataclasses.replace(bed.endpoint(folder / "server"), cpus=program_cpus)
        workers = settings.program.workers or len(program_cpus)
        stack = stack_of(
            plan.stack if kind.kernel_stack else KERNEL,
            endpoint.placement(workers, settings.open_flows),
        )
        server = kind.make(dataclasses.replace(endpoint, stack=stack), settings)
        say("starting the server")
        try:
            stack.prepare()
            start_on(stack, server)
            bed.steer()  # a stack that took the interface made receive work by that
            yield RunningServer(bed, tuning, stack, server, folder, plan, host)
        finally:
            server.stop()
            stack.release()


def backend_cores(plan: ServerPlan, wiring: Wiring) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The cores of the system under test, and those of a server behind it (`dut.server_on`)."""
    if wiring.server is None:
        return plan.server_cpus, ()
    if plan.settings.dut.server_on == "load":
        return plan.server_cpus, plan.load_cpus
    return plan.server_cpus[:-1] or plan.server_cpus, plan.server_cpus[-1:]


def _beside(server_cpus: Collection[int]) -> tuple[int, ...]:
    """The other cores of this machine, for what reads the server where no load is next to it."""
    others = tuple(cpu for cpu in allowed_cores() if cpu not in server_cpus)
    if not others:
        raise StackcostError(
            f"the server would have all cores of its host: {list(server_cpus)}",
            "leave one of them to the collectors: change cores.server in the experiment",
        )
    return others


def start_on(stack: Stack, server: Server) -> None:
    """Start it; when it does not, the stack may know why better than its own words."""
    try:
        server.start()
    except StackcostError as error:
        raise stack.explain(error) from error


def machine_collectors(
    server_namespace: str,
    server_cpus: Collection[int],
    processes: Mapping[str, int],
    detail: Detail = Detail.SOFTIRQS,
    sampled: Collection[int] = (),
) -> list[Collector]:
    """All that is read of the machine itself and of the server's processes, by role.

    `sampled`: cores of which stacks and allocations are sampled, unless only tasks are booked, as
    in a search.
    """
    account = CpuAccount(detail)
    samples = sampled and detail is not Detail.TASKS
    return [
        account,
        *([StackSamples(account, sampled), SlabOwners(sampled)] if samples else []),
        CpuTime(),
        Energy(),
        CoreSpeed(server_cpus),
        Guest(),
        HardwareCounters(),
        Softnet(),
        KernelLog(),
        Network(server_namespace),
        # Looking for the processes at every reading would fill caches of /proc.
        Processes(lambda: processes),
        Slab(),
    ]


def _frames(end: End) -> Interface:
    text = execute(end.namespace, ["cat", "/proc/net/dev"])
    columns = interfaces(text)[end.interface]
    return Interface(received=columns[1], sent=columns[9])
