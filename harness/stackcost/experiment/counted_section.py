"""The section `counted` of an experiment: what a run that counts instructions needs."""

from pydantic import Field

from stackcost.experiment.entries import Folder, KernelName
from stackcost.experiment.section import Section


class Counted(Section):
    """A run that counts instructions, at one rate for all: counts hardly depend on it."""

    kernel: KernelName = Field(
        default="6.1",
        description="a version that this machine's archive has, such as 6.12, or a file, relative "
        "to this one: a package of a kernel (.deb), or an image (bzImage) whose modules are in "
        "files",
    )
    command_line: str = Field(default="", description="more words for the kernel's command line")
    modules: list[str] = Field(default=[], description="more modules of the kernel")
    files: Folder | None = Field(
        default=None,
        description="a folder, relative to this file, whose files are put over the guest's, and "
        "which has more modules for its kernel: an installed Onload",
    )
    script: str = Field(
        default="", description="shell commands in the guest, after the test bed was made"
    )
    connections: int = Field(
        default=500, ge=10, le=1_000_000, description="in each window that is counted"
    )
    offered_cps: float = Field(
        default=500,
        gt=0,
        le=2000,
        description="connections per second of the guest's clock: 1,000 instructions are a "
        "microsecond",
    )
