"""Programs of a counting guest that go on: how they begin, and when they listen."""

from pathlib import Path
from shlex import quote

from stackcost.contracts.errors import StackcostError
from stackcost.counting.guest import CountingGuest
from stackcost.host.waiting import wait_until

START_LIMIT_S = 300.0
# Of each file or area with code: its name, then 8 bytes for each of its pages
# (Documentation/admin-guide/mm/pagemap.rst).
MAPPED = """for process in $(ps -o pid= -s {session}); do
  grep ' r-xp ' /proc/$process/maps | while read area rights offset device inode name; do
    begin=$((0x${{area%-*}} / 512)) end=$((0x${{area#*-}} / 512))
    echo "name ${{name##*/}}"
    dd if=/proc/$process/pagemap iflag=skip_bytes,count_bytes skip=$begin \
      count=$((end - begin)) 2>/dev/null | od -An -v -tx8
  done
done
"""
PRESENT, FRAME = 1 << 63, (1 << 55) - 1


def begin(
    guest: CountingGuest, namespace: str, command: list[str], log: str, folder: Path | None = None
) -> str:
    """Start a program that goes on; returns its session."""
    words = " ".join(map(quote, command))
    where = f"cd {quote(str(folder))} && " if folder else ""
    return guest.line.run(
        f"{where}ip netns exec {namespace} setsid {words} </dev/null >{log} 2>&1 & echo $!"
    ).strip()


def wait_for(
    guest: CountingGuest,
    process: str,
    namespace: str,
    address: str,
    port: int,
    what: str,
    folder: Path,
) -> None:
    """Wait until a program that was begun listens; StackcostError if it has ended before."""

    def listens() -> bool:
        try:
            with guest.line.connection(namespace, address, port):
                return True
        except StackcostError:
            if "ended" not in guest.line.run(f"[ -d /proc/{process} ] || echo ended"):
                return False
        raise StackcostError(f"{what} has ended in the counting guest: {_said(guest, folder)}")

    if not wait_until(listens, START_LIMIT_S, 0.2):
        raise StackcostError(f"{what} did not listen in the counting guest: {_said(guest, folder)}")


def mapped(guest: CountingGuest, session: str) -> dict[int, str]:
    """The name of the file with the code of each page of the guest's memory that the processes of a
    session have executed.
    """
    return pages_of(guest.line.run(MAPPED.format(session=session)))


def pages_of(told: str) -> dict[int, str]:
    """What a run of `MAPPED` told."""
    pages: dict[int, str] = {}
    name = ""
    for line in told.splitlines():
        word, *rest = line.split()
        if word == "name":
            name = rest[0] if rest else "?"
            continue
        found = [int(entry, 16) for entry in (word, *rest)]
        pages.update({entry & FRAME: name for entry in found if entry & PRESENT})
    return pages


def _said(guest: CountingGuest, folder: Path) -> str:
    """The end of what programs of the guest printed."""
    guest.line.run("sync")
    logs = [path.read_text(errors="replace") for path in folder.glob("guest/*.log")]
    return " ".join(" ".join(text.split())[-500:] for text in logs)
