"""What a tier's file says."""

import glob
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from stackcost.contracts.errors import StackcostError
from stackcost.host.yaml_file import read_yaml

FOLDER = Path(__file__).parent / "tiers"
SUFFIX = ".yaml"
Context = Literal["main", "events", "http"]  # nginx's own word for a block of its configuration


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Setting(_Part):
    """One value, and where its source says so. `left`: why it is not set although it says so."""

    value: str
    source: str
    left: str = ""

    @field_validator("value", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> str:
        return value if isinstance(value, str) else str(value)


class Receive(_Part):
    """Where receive work of the server's interface is done; see `stackcost.host.steering`.

    `poll_threads`: threaded NAPI. `packet_steering`: RPS. `apart`: on the first half of the
    server's cores, which its programs then leave alone; it needs two cores.
    """

    poll_threads: bool = True
    packet_steering: bool = True
    apart: bool = False
    source: str = ""

    def share(self, cores: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The cores that receive, and those of the server's programs."""
        if not self.apart:
            return tuple(cores), tuple(cores)
        half = len(cores) // 2
        return tuple(cores[:half]), tuple(cores[half:])


class Needs(_Part):
    """What a tier cannot do without. `devices`: a pattern of paths; `nginx`: a word of nginx -V."""

    devices: str = ""
    nginx: str = ""

    def lacks(self) -> str:
        """What of it is not there, and how that was established; empty when nothing."""
        found = []
        if self.devices and not glob.glob(self.devices):
            found.append(f"a device {self.devices} (there is none)")
        if self.nginx and self.nginx not in _nginx_says():
            found.append(f"an nginx built with {self.nginx} (nginx -V does not say so)")
        return f"it lacks {' and '.join(found)}" if found else ""


class Tier(_Part):
    """One way to tune nginx and the kernel; `sysctls` and nginx's directives by name.

    `other`: what the source does beside these, which is never done here; each says why in `left`.
    """

    name: str
    title: str
    source: str
    receive: Receive = Receive()
    needs: Needs = Needs()
    sysctls: dict[str, Setting] = Field(default_factory=dict)
    nginx: dict[Context, dict[str, Setting]] = Field(default_factory=dict)

    other: dict[str, Setting] = Field(default_factory=dict)

    @field_validator("other")
    @classmethod
    def _is_left(cls, value: dict[str, Setting]) -> dict[str, Setting]:
        for name, setting in value.items():
            if not setting.left:
                raise ValueError(f"{name}: nothing sets it, so it needs left: the reason")
        return value

    def directives(self) -> dict[str, dict[str, str]]:
        """nginx's directives by context, those left out excepted."""
        return {
            context: {name: each.value for name, each in settings.items() if not each.left}
            for context, settings in self.nginx.items()
        }

    def lacks(self, server_cores: int) -> str:
        """Why it cannot be measured on so many cores; empty when it can."""
        if self.receive.apart and server_cores < 2:
            return f"it needs 2 cores for the server, the experiment gives {server_cores}"
        return self.needs.lacks()


def _nginx_says() -> str:
    """What nginx -V prints; nothing without one."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        return ""
    return subprocess.run([program, "-V"], capture_output=True, text=True).stderr


def tier_names() -> list[str]:
    """All tiers there are."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


@cache
def tier_of(name: str) -> Tier:
    """The tier of this name, or of a file of one's own (`name` ends in .yaml).

    StackcostError naming the others when there is none.
    """
    path = Path(name) if name.endswith(SUFFIX) else FOLDER / f"{name}{SUFFIX}"
    if not path.is_file():
        raise StackcostError(
            f"there is no tuning tier {name!r}", f"one of {', '.join(tier_names())}, or a file"
        )
    try:
        return Tier.model_validate(dict(read_yaml(path, "the tier")) | {"name": path.stem})
    except (ValidationError, ValueError, TypeError) as error:
        raise StackcostError(f"{path} is no tuning tier: {error}") from error
