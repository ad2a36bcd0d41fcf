"""Reads the figures of the published documents out of their own text, table by table.

The documents are not ours to ship. `printed/` has the figures that this module found in them, and
the tests hold `published/` against these. Whoever has the documents' texts sets
STACKCOST_DOCUMENTS to their folder, and `printed/` is held against the texts as well.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

Row = list[float]
Tables = dict[str, list[Row]]

VARIABLE = "STACKCOST_DOCUMENTS"
# What stands in each document's title, by the name of its file in published/.
TITLES = {
    "haproxy_cookbook": "HAProxy Cookbook",
    "nginx_cookbook": "NGINX Web Server Cookbook",
    "nginx_dlb": "NGINX AIO Thread",
    "nginx_white_paper": "Improving Web Server Performance",
    "trex_nginx": "Comparing TRex Advanced Stateful",
}
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")
N = r"(\d[\d,]*\.?\d*)"  # a number in a pattern
WORDS = {"two": 2.0, "three": 3.0, "four": 4.0, "six": 6.0, "eight": 8.0, "sixteen": 16.0}
# What published/trex_nginx.yaml computes with, by its name there.
FACTS: dict[str, str | tuple[str, float]] = {
    "clock_hz": (rf"@ {N}GHz", 1e9),
    "cpu.claimed": rf"factor of ~{N}",
    "cpu.nginx_cores_counted": rf"vs\. 20x{N} cores",
    "cpu.trex_cores_counted": rf"comparing {N} DP core",
    "cpu.nginx_rate": (rf"more than {N}K new flows", 1e3),
    "cpu.trex_rate": (rf"Total-CPS\s+:\s+{N} Kcps", 1e3),
    "cpu.nginx_gbps": rf"For about {N}Gb/sec traffic",
    "cpu.trex_gbps": rf"scale to about {N}Gb/sec of download",
    "cpu.nginx_mpps": (rf"approximately {N}KPPS", 1e-3),
    "cpu.trex_mpps": rf"Total-PPS\s+:\s+{N} Mpps",
    "cpu.trex_server_busy": (rf"Gb/core \[{N} ,", 0.01),
    "memory.claimed": rf"factor or {N} in",
    "memory.nginx_bytes": (rf"approximately {N}GB of memory", 1e9),
    "memory.nginx_flows": (rf"active flows was {N}K", 1e3),
    "memory.trex_bytes_per_flow": rf"approximately {N} bytes of memory",
    "memory.worker_connections": rf"worker_connections\s+{N};",
    "memory.workers": rf"server uses all {N} cores",
    "memory.workers_by_auto": rf"total of 16 cores/{N} threads",
}
UNITS = {"": 1.0, "M": 1e6, "G": 1e9}  # of bits per second
TIMES_MS = {"s": 1000.0, "ms": 1.0}


def documents_folder() -> Path | None:
    """Where the documents' texts are; None when nobody said."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def texts(folder: Path) -> dict[str, str]:
    """The documents' texts, by the name of their file in published/."""
    every = [path.read_text() for path in sorted(folder.iterdir()) if path.is_file()]
    return {
        name: next(text for text in every if title in text[:1000]) for name, title in TITLES.items()
    }


def printed(name: str, text: str) -> Tables:
    """All figures of one document, by the name of the table as published/ calls it."""
    return READERS[name](text)


def settings(text: str) -> dict[str, str]:
    """The sysctls and the variables of Onload that a document sets to a number, by name.

    Of a value printed as a range of numbers it is both ends, as they are printed.
    """
    number = r"['\"]?(\d+\.\.\d+|-?\d+(?: +\d+)*)\b"
    sysctls = re.findall(rf"\b((?:net|fs|vm|kernel|sunrpc)\.[\w.-]+) ?= ?{number}", text)
    variables = re.findall(rf"^(EF_\w+)={number}", text, re.MULTILINE)
    return {name: " ".join(value.split()) for name, value in sysctls + variables}


def _numbers(text: str) -> Row:
    return [float(found.replace(",", "")) for found in NUMBER.findall(text)]


def _between(text: str, start: str, end: str) -> str:
    """What stands from the last `start` to the next `end`."""
    return text[text.rindex(start) :].partition(end)[0]


def _found(text: str, *patterns: str | tuple[str, float]) -> list[Row]:
    """A row for each pattern: its groups, each times the number beside the pattern."""
    rows = []
    for each in patterns:
        pattern, times = each if isinstance(each, tuple) else (each, 1.0)
        match = re.search(pattern, text, re.DOTALL | re.IGNORECASE)
        assert match is not None, pattern
        values = (
            WORDS.get(group.lower()) or float(group.replace(",", "")) for group in match.groups()
        )
        rows.append([round(value * times, 6) for value in values])
    return rows


def _cells(text: str) -> list[Row]:
    """Lines of numbers between tabs: the rows of the cookbooks' tables, without empty cells."""
    lines = (line.rstrip() for line in text.splitlines())
    return [_numbers(line) for line in lines if re.fullmatch(r"\d+(\t-?[\d.]+%?)+", line)]


def _haproxy(text: str) -> Tables:
    parts = re.split(r"\nTable (\d): ", _between(text, "5.1 Results", "5.2 Analysis"))
    tables = {
        f"Table {number}": _cells(part)
        for number, part in zip(parts[1::2], parts[2::2], strict=True)
    }
    tables["Sections 4.2 to 4.4"] = _rows(
        text,
        rf"Set up {N} instances of wrk2",
        rf"\n\s+-R {N} ",
        rf"\n\s+-c {N} ",
        rf"\n\s+-d {N} ",
        rf"\n\s+-t {N} ",
        rf"set of {N} backend webservers",
        rf"worker_connections\s+{N};",
        rf"worker_rlimit_nofile\s+{N};",
        rf"keepalive_requests {N};",
        rf"keepalive_timeout {N}s;",
        rf"open_file_cache max={N} inactive",
        r"location = /0 {\s+return 204;",
        r"location = /upload {\s+return 200 'Thank you';",
        rf"\n  maxconn {N}\n",
        rf"\n  nbproc {N}\n",
        rf"timeout client {N}s",
        rf"timeout server {N}s",
        rf"timeout connect {N}s",
        r"balance static-rr",
    )
    # The last of the printed servers, and the last that the text names: each list begins at 1050.
    listed = len(re.findall(r"^\s+server WebServer\d+ ", text, re.MULTILINE))
    ((first, last),) = _found(text, rf"in the range {N}-{N}\.")
    tables["Sections 4.2 to 4.4"] += [[float(listed)], [last - first + 1]]
    tables["Section 5.2, claims"] = _found(
        text,
        rf"Connections per second\n\nThe connections.*?improvement of {N}%",
        rf"Requests per second\n\nThe requests.*?improvement of {N}%",
        rf"The throughput shows.*?improvement of {N}%",
        rf"raised above {N} million",
        rf"low latency with {N} million",
    )
    return tables


def _nginx(text: str) -> Tables:
    """Tables 2 to 19 have six rows each. Captions stand before or after; the order is right."""
    rows = _cells(_between(text, "6.1 Results", "6.2 Analysis"))
    assert len(rows) % 6 == 0
    tables = {f"Table {2 + at // 6}": rows[at : at + 6] for at in range(0, len(rows), 6)}
    conf = _between(text, "# cat nginx-webserver 28.conf", "5.2 Starting")
    tables["Table 1"] = [
        [float(used), *default]
        for used, default in zip(
            re.findall(r"A value of (\d+)s? was used", text),
            _found(text, rf"to use\.\t{N}", rf"total threads\)\.\t{N}", rf"2m, 2h\.\t{N}s"),
            strict=True,
        )
    ]
    tables["Section 5.1, nginx.conf"] = _rows(
        conf,
        rf"\nworker processes {N};",
        rf"#worker rlimit nofile {N};",
        rf"\nworker_rlimit_nofile {N};",
        rf"\n +worker connections {N};\n#",
        rf"#\n +worker_connections {N};",
        *(r"accept mutex\s+off", r"multi accept\s+off", r"sendfile on"),
        rf"keepalive timeout {N}s",
        rf"keepalive requests {N};",
        rf"open file cache max={N} ",
        rf"inactive={N}s",
        rf"open_file_cache_valid {N}s",
    )
    sample = _between(text, "Running 3m test", "Onloading wrk")
    tables["Section 5.3, example run"] = _found(
        sample,
        rf"{N} threads",
        rf"and {N} connections",
        rf"Latency {N}ms",
        rf"Latency \S+ {N}ms",
        rf"Latency \S+ \S+ {N}s",
        rf"Latency \S+ \S+ \S+ {N}%",
        (rf"Req/Sec {N}k", 1e3),
        (rf"Req/Sec \S+ {N}k", 1e3),
        (rf"Req/Sec \S+ \S+ {N}k", 1e3),
        rf"Req/Sec \S+ \S+ \S+ {N}%",
        rf"{N} requests in",
        rf"requests in {N}m",
        rf"{N}MB read",
        rf"Requests/sec: {N}",
        r"Transfer/sec: (\.\d+)MB",
    )
    tables["Section 6.2, claims"] = _found(
        text,
        rf"at least {N}% gain, at both speeds",
        rf"greatest gains of over {N}% with 4",
        rf"flatten out at {N}% or above",
        rf"increasing from {N}% to",
        rf"increasing from \d+% to {N}%",
        rf"gains of greater that {N}%",
        rf"more than\s*{N}% for a single",
        rf"greater than {N}% with up to 4",
        rf"peak gains of greater than {N}%",
        rf"greater than 201% and {N}%",
        rf"Peak gains at 16. worker processes are greater than {N}%",
        rf"greater than 202% and {N}%",
        rf"delivering {N}% gain for 10MB",
        rf"and {N}% gain for 100MB",
        rf"around {N} Gbps for the kernel",
        rf"and {N} Gbps for Cloud Onload",
    )
    return tables


def _dlb(text: str) -> Tables:
    def column(what: str) -> Row:
        block = text[text.index(f"{what} Distribution") :]
        rows = re.findall(r"[\d.]+%\s+([\d.]+)(ms|s)\b", block)[:6]
        return [round(float(value) * TIMES_MS[unit], 6) for value, unit in rows]

    columns = zip(column("Latency"), column("Connect"), column("Delay"), strict=True)
    ((average, deviation, highest, share),) = _found(text, rf"Latency\s+{N}s\s+{N}ms\s+{N}s\s+{N}%")
    rows = _found(
        text,
        rf"Connect\s+{N}ms\s+{N}ms\s+{N}s\s+{N}%",
        rf"Delay\s+{N}ms\s+{N}ms\s+{N}s\s+{N}%",
        rf"Req/Sec\s+{N}\s+{N}\s+{N}k\s+{N}%",
    )
    return {
        "Example log": [
            [at, *row] for at, row in zip([50, 75, 90, 99, 99.9, 99.99], columns, strict=True)
        ],
        "Example log, spread": [
            [average, deviation / 1000, highest, share],
            *([mean, spread, 1000 * most, within] for mean, spread, most, within in rows),
        ],
        "Example log, totals": _found(
            text,
            rf"and {N} connections",
            rf"{N} threads and",
            rf"delay time is {N} ns",
            rf"{N} requests in",
            rf"requests in {N}m",
            rf"{N}TB read",
            rf"pconn {N}",
            rf"delay_timeout {N}",
            rf"Requests/sec:\s+{N}",
            rf"Transfer/sec:\s+{N}GB",
        ),
        "Reference system": _rows(
            text,
            *("BIOS Version EGSDCRB1", "CentOS Stream 8", "Microcode 0x", "IRQ Balance Disabled"),
            "Q23U",
            rf"Base Frequency {N}GHz",
            rf"\nMaximum Frequency {N}GHz",
            rf"All-core Maximum Frequency {N}GHz",
            rf"CPU\(s\) {N}",
            rf"Thread\(s\) per Core {N}",
            rf"Core\(s\) per Socket {N}",
            rf"Socket\(s\) {N}",
            rf"NUMA Node\(s\) {N}",
            *("L2 HW, L2 Adj., DCU HW, DCU IP", "Turbo Enabled", "2921684c17583b38"),
            "Perf Policy Performance",
            rf"TDP {N} watts",
            *("Frequency Driver intel_pstate", "Frequency Governer Performance"),
            rf"Frequency \(MHz\) {N}",
            rf"Max C-State {N}",
            rf"Installed Memory {N}GB",
            rf"Huge Pages Size {N} kB",
            *("Transparent Huge Pages Always", "Automatic NUMA Balancing Disabled"),
            *("I225-LM Ethernet Controller E810-C", "INTEL SSDPF2KX038TZ"),
        ),
        "Content and cache servers": _rows(
            text,
            r"http_obj_gen_10k.py --host localhost --port 8888 --obj-dist fixed",
            r"http_obj_gen_100k.py --host localhost --port 8888 --obj-dist fixed",
            r"http_obj_gen.py --host localhost --port 8888 --obj-dist fixed",
            *(
                rf"mount -o rw,noatime,seclabel,discard /dev/nvme{disk}n1 /cdn/cache{disk}"
                for disk in range(1, 6)
            ),
            r"clr_drop_cache.sh",
            r"then run the run_mix.sh",
        ),
        "Reference software": _rows(
            text,
            *("NGINX version 1.16.1", r"gcc version 8.5.0 20210514", r"wrk 4.0.0 \[epoll\]"),
            *("RELEASE_VER_7.8.0", "NETWORK_DRIVERS_V27.6.1"),
            "intel_iommu=on,sm_on iommu=on dma_debug=off",
        ),
    }


def _rows(text: str, *patterns: str) -> list[Row]:
    """The same for a table some of whose rows have words: these have no group, and no number."""
    return [_found(text, each)[0] for each in patterns]


def _white_paper(text: str) -> Tables:
    word = r"(\w+)"

    def allocated(heading: str, which: int = 0) -> Row:
        """How many cores of the local and of the other package have an entry."""
        start = list(re.finditer(heading, text))[which].end()
        lines = re.findall(r"^(?:Local|Remote)(.*)$", text[start:], re.MULTILINE)[:2]
        return [float(len(line.split())) for line in lines]

    kernel, onload = "{} Cores with Kernel Stack", "{} Cores with OpenOnload"
    return {
        "Figure 1": _found(
            text,
            (rf"ceiling of {N} thousand", 1000.0),
            rf"maximum {N}% increase",
            rf"yields a {N}% boost",
            rf"OpenOnload needs {word} cores",
            rf"needs {word} or more cores",
            rf"found to be {word} times more",
        ),
        "Figure 2": _found(
            text, rf"saturate a single {N} Gbps", rf"saturate a 10GbE link with {word} cores"
        ),
        "Figure 3": _found(text, rf"dual-port {N} Gbps", rf"use of {N} cores"),
        "Figure 4": _found(text, rf"{N} byte payload", rf"saturate a {N}GbE link with 10,"),
        "Tables 1 and 2": [
            [*allocated(kernel.format(3)), *allocated(onload.format(3))],
            [*allocated(kernel.format(6)), *allocated(onload.format(6))],
            # The last heading of table 2 says 6 cores, too; its entries are 8.
            [*allocated(kernel.format(8)), *allocated(onload.format(6), which=-1)],
        ],
        "Tables 1 and 2, threads": _rows(
            text,
            *(
                rf"{heading}.*?{package}{threads.replace(' ', chr(9))}\t*\n"
                for heading, package, threads in (
                    (r"Configuration 1\n.*?3 Cores with Kernel", "Local\t", "IA IA IA"),
                    (r"Configuration 1\n.*?6 Cores with Kernel", "Local\t", "IA IA IA IA IA IA"),
                    (r"Configuration 1\n.*?8 Cores with Kernel", "Local\t", "II II II II"),
                    (r"Configuration 1\n.*?8 Cores with Kernel", "Remote\t", "AA AA AA AA"),
                    (r"Configuration 2\n.*?3 Cores with Kernel", "Local\t", "I/A/A I/A/A I/A/A"),
                    (
                        r"Configuration 2\n.*?6 Cores with Kernel",
                        "Local\t",
                        "I/A/A I/A/A I/A/A I/A/A I/A/A I/A/A",
                    ),
                    (r"3 Cores with OpenOnload", "Local\t", "BB BB BB"),
                    (r"6 Cores with OpenOnload", "Local\t", "BB BB BB BB BB BB"),
                    (
                        r"6 Cores with OpenOnload",
                        "Local\tBB\tBB\tBB\tBB\tBB\tBB\nRemote\t",
                        "AA AA",
                    ),
                )
            ),
        ),
        "Test setup": _found(
            text,
            rf"concurrency of {N}",
            rf"was below {N} ms",
            rf"{word} `ab` instances were spawned",
            rf"{word} load-generating client machines",
            rf"{word} IP addresses were configured on each client",
            rf"static and {N} bytes",
            r"x = 8, 10\$ and (\d+)",
            rf"each physical core into {N} logical",
            rf"hyper-threading running at {N} GHz",
            rf"and {N} GB DDR4",
            rf"processor running at {N} GHz",
            rf"a single {word}-core Sandy",
            rf"and {N} GB DDR3",
            rf"\({N}ms in the experiments",
        ),
        "Appendix I": _rows(
            text,
            r"One Dell R630 server",
            r"Two Intel Xeon E5-2620 v3 CPUs at 2\.40 GHz",
            rf"{N} GB DDR4 SD-RAM at 1867",
            rf"DDR4 SD-RAM at {N} MHz",
            r"Red Hat Enterprise Linux 7\.0, kernel version: 3\.10\.0-123\.el7\.x86_64",
            r"Nginx 1\.7\.7 \(patched for `SO_REUSEPORT`",
            r"SFN7002F, ultra-low latency firmware",
            r"SFN7142Q, ultra-low latency firmware",
            r"Intel X710\n",
            r"OpenOnload-201502-u1/ v4\.4\.1\.1017",
            r"i40e 1\.2\.37",
            r"Eight Dell R210 servers",
            r"Single Intel Xeon E3-1230 CPU at 3\.20 GHz \(Sandy Bridge; four cores, no hyper",
            rf"{N} GB DDR3 SD-RAM at 1333",
            rf"DDR3 SD-RAM at {N} MHz",
            r"ApacheBench 2\.3 \(patched",
            r"SFN6122F, Driver version OpenOnload-201502-u1",
        ),
        "Appendix II": _rows(
            text,
            *("frequency scaling: disabled", "Adaptive interrupt moderation: disabled"),
            rf"\n- Interrupt moderation: {N}",
            *("receive offload: enabled", "segmentation offload: enabled"),
            "Flow Steering: disabled on all NICs unless indicated otherwise",
            "disabled: Network-manager iptables, ebtables, conntrack, irqbalance",
            *(r"Firmware version: v4\.4\.2\.1011", "Firmware variant: ultra-low-latency"),
            r"EF_RXQ_SIZE=512\.\.4096",
            r"EF_MIN_FREE_PACKETS=500000\.\.100000",
            rf"rx_copybreak={N}",
            rf"rx_recycle_ring_size={N}",
            rf"tx_push_max_fill={N}",
        ),
        "Appendix III": _rows(
            text,
            *("synchronizing multiple ab instances", "array of ip addresses per ab instance"),
            *("Do not stop despite connection failures", "Preset expected response size"),
            "number of successful requests",
        ),
    }


def _trex(text: str) -> Tables:
    def port(name: str, times: float = 1.0) -> Row:
        line = next(line for line in text.splitlines() if re.match(rf"\s*{name}\s*\|", line))
        return [value * times for value in _numbers(line.partition("|")[2])]

    bandwidth = next(line for line in text.splitlines() if re.match(r"\s*Tx Bw\s*\|", line))
    rates = re.findall(r"([\d.]+)\s+([GM]?)bps", bandwidth)
    ports = ["opackets", "obytes", "ipackets", "ibytes", "ierrors", "oerrors"]
    table_1, table_2 = _between(text, "Table 1.", "Table 2."), _between(text, "Table 2.", "3.4.")
    return {
        "Table 1": _rows(
            table_1,
            rf"{N} sockets x",
            rf"GHz, {N} cores",
            rf"@ {N}GHz",
            rf"2x{N}GB",
            rf"\+ {N}xPCIe4",
            rf"{N}x PCIe16",
            rf"Fedora {N}",
            r"1 NIC x 82599 or 2 X710",
            r"NIC0-NUMA 0 , NIC1-NUMA1",
        ),
        "Section 5, profile and command": _rows(
            text,
            r"16\.0\.0\.1 -16\.0\.0\.200\) to one server \(48\.0\.0\.1\)",
            r'\["16\.0\.0\.1", "16\.0\.0\.200"\]',
            r'\["48\.0\.0\.1", "48\.0\.0\.200"\]',
            rf"cps = {N}\)",
            rf"nginx_wget\.py -m {N} ",
            rf"-m \d+ -c {N} ",
            rf"-c 1 -d {N}\b",
            r"TRex v2\.30 was used",
        ),
        "Table 2": _found(
            table_2,
            rf"request size\s+{N}B",
            rf"response size\s+{N}KB",
            rf"per TCP connection\s+{N}",
            rf"packets per TCP connection\s+{N}",
            rf"of clients\s+{N}",
            rf"of servers\s+{N}",
            rf"initwnd\s+{N}",
            rf"delay-ack\s+{N}msec",
        ),
        "Port statistics": [
            *(port(name) for name in ports),
            [float(value) * UNITS[unit] / 1e9 for value, unit in rates],
        ],
        "Global statistics": _found(
            text,
            rf"Cpu Utilization : {N}",
            rf"{N} Gb/core",
            rf"Gb/core \[{N} ,",
            rf"Gb/core \[[\d.]+ ,{N}",
            rf"Platform_factor : {N}",
            rf"Total-Tx\s+:\s+{N} Gbps",
            rf"Total-Rx\s+:\s+{N} Gbps",
            rf"Total-PPS\s+:\s+{N} Mpps",
            rf"Total-CPS\s+:\s+{N} Kcps",
            rf"Expected-PPS\s+:\s+{N}",
            rf"Expected-CPS\s+:\s+{N}",
            rf"Expected-L7-BPS\s+:\s+{N}",
            rf"Active-flows\s+:\s+{N}",
            rf"Clients :\s+{N}",
            rf"Socket-util : {N} %",
            rf"Open-flows\s+:\s+{N}",
            rf"Servers :\s+{N}",
            rf"Socket :\s+{N}",
            rf"Socket/Clients :\s+{N}",
            rf"drop-rate\s+:\s+{N}",
            rf"current time\s+: {N}",
            rf"test duration\s+: {N}",
        ),
        "TCP counters": _counters(text),
        "Figures in the text": _found(
            text,
            rf"scale to about {N}Gb/sec of download",
            rf"\(total of {N}MPPS",
            rf"up to about {N}Gb/sec",
            (rf"more than {N}K new flows", 1000.0),
            rf"approximately {N}KPPS",
            (rf"active flows was {N}K", 1000.0),
            rf"requires {N} cores for TRex",
            rf"vs\. {N}x16 cores",
            rf"vs\. 20x{N} cores",
            rf"factor of ~{N}",
            rf"approximately {N} bytes of memory",
            rf"approximately {N}GB of memory",
            rf"approximately {N}GB is required",
            rf"approximately {N}MB is required",
            rf"factor or {N} in",
        ),
        "top": [
            _numbers(line.partition(":")[2])
            for line in re.findall(r"^%Cpu\d+[^\n]* st", text, re.MULTILINE)
        ],
        **{name: _found(text, pattern) for name, pattern in FACTS.items()},
    }


def _counters(text: str) -> list[Row]:
    """The client's and the server's column: bandwidth in Mbps, packets in Kpps, sizes in bytes."""
    times = {"Gbps": 1e3, "Mpps": 1e3, "KB": 1e3}
    cell = r"([\d.]+)\s*(\S*)"
    lines = re.findall(rf"^\s*(?:m|tcps|err)_\w+\s+\|\s+{cell}\s+\|\s+{cell}\s+\|", text, re.M)
    return [
        [
            round(float(client) * times.get(first, 1.0), 6),
            round(float(server) * times.get(second, 1.0), 6),
        ]
        for client, first, server, second in lines
    ]


READERS: dict[str, Callable[[str], Tables]] = {
    "haproxy_cookbook": _haproxy,
    "nginx_cookbook": _nginx,
    "nginx_dlb": _dlb,
    "nginx_white_paper": _white_paper,
    "trex_nginx": _trex,
}
