"""Named settings of Onload: what a publication ran, and what of it an AF_XDP interface changes.

A file of profiles/ is one of them. A value may depend on the program's workers: `workers`, or a
number divided by them, `2880000/workers`.
"""

import re
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict
from ruamel.yaml import YAML

from stackcost.contracts.errors import StackcostError
from stackcost.host.yaml_file import read_yaml

HERE = Path(__file__).parent
FOLDER = HERE / "profiles"
PROFILE_SUFFIX = ".yaml"
WORKERS = "workers"
CLUSTER_SIZE = "EF_CLUSTER_SIZE"
LEAST_FILES = 1024  # that a program has for its connections: the usual soft limit
SPARE_FILES = 200  # a program's logs and the like, and Onload's own


class Profile(BaseModel):
    """One file. `imports`: Onload's own fragments, which set only what is not set before them.

    `extends`: a built-in profile, whose settings hold where this one says nothing; `without`: those
    of them that do not.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    source: str
    extends: str | None = None
    without: list[str] = []
    settings: dict[str, int | str] = {}
    imports: list[str] = []


class Rule(BaseModel):
    """How one variable is changed; af_xdp.yaml says how to read it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    reason: str
    value: int | None = None
    most: int | None = None
    left: bool = False
    always: bool = False


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A variable that is not as published; `published`, `used`: None where it is not set."""

    name: str
    published: str | None
    used: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Room:
    """For how many flows there is room at once, at most, and the settings that say so."""

    flows: int
    by: str


@dataclass(frozen=True, slots=True)
class OnloadSettings:
    """A profile as one program gets it: every value settled, and what was changed of it."""

    profile: Profile
    values: dict[str, str]
    adjusted: list[Adjustment]

    def text(self) -> str:
        """The profile as a file of Onload's. Fragments come last, as the first to set a value wins.

        A cluster of 0 (none) has to come after them: they divide by its size.
        """
        sets = {name: f"onload_set {name} {value}" for name, value in self.values.items()}
        imports = [f"onload_import {name}" for name in self.profile.imports]
        if imports and self.values.get(CLUSTER_SIZE) == "0":
            none = sets.pop(CLUSTER_SIZE)
            imports = [f"{CLUSTER_SIZE}=1", *imports, f"unset {CLUSTER_SIZE}", none]
        return "\n".join([f"# {self.profile.title}", *sets.values(), *imports, ""])

    @property
    def cached_sockets(self) -> int:
        """Closed sockets that are kept at most, each with a descriptor of its program."""
        return self._number("EF_SOCKET_CACHE_MAX")

    def within_files(self, soft: int, hard: int, flows: int) -> "OnloadSettings":
        """With a cache of closed sockets whose descriptors fit beside the connections'.

        `soft`, `hard`: the limits of open files (RLIMIT_NOFILE). Connections have what the soft
        one gives them without a cache, which may be more than `flows` need.
        """
        most = max(0, hard - min(soft, max(LEAST_FILES, flows + SPARE_FILES)))
        before, name = self.cached_sockets, "EF_SOCKET_CACHE_MAX"
        if before <= most:
            return self
        reason = f"cached sockets keep descriptors, and the hard limit of open files is {hard}"
        values = self.values | {name: str(most)}
        adjusted = [each for each in self.adjusted if each.name != name]
        adjusted.append(Adjustment(name, str(before), str(most), reason))
        return OnloadSettings(self.profile, values, adjusted)

    def room(self) -> Room:
        """By endpoints, and by packets that are reserved for each.

        Onload accepts a connection only while what it reserved for others stays below three
        quarters of its packets (src/lib/transport/ip/tcp_synrecv.c, netif_init.c).
        """
        stacks = max(1, self._number(CLUSTER_SIZE))
        found = [Room(stacks * self._number("EF_MAX_ENDPOINTS"), "EF_MAX_ENDPOINTS")]
        packets, reserve = map(self._number, ("EF_MAX_PACKETS", "EF_ENDPOINT_PACKET_RESERVE"))
        if reserve:
            words = f"EF_ENDPOINT_PACKET_RESERVE {reserve}, EF_MAX_PACKETS {packets}"
            found.append(Room(stacks * (packets * 3 // 4 // reserve), words))
        return min(found, key=lambda room: room.flows)

    def _number(self, name: str) -> int:
        """A variable's value, be it set here, in a fragment, or nowhere."""
        known = _own_values()
        for table in (self.values, *(known["fragments"].get(n, {}) for n in self.profile.imports)):
            if name in table:
                value, _, by = str(table[name]).partition("/")
                number = int(value) if value.isdigit() else self._number(value)
                divisor = int(by) if by.isdigit() else self._number(by) if by else 1
                return number // max(1, divisor)
        return int(known["defaults"][name])

    def describe(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "profile": self.profile.name,
            "title": self.profile.title,
            "source": self.profile.source,
            "settings": self.values,
            "most_flows": self.room().flows,
            "cached_sockets": self.cached_sockets,
            "imports": self.profile.imports,
            "adjusted": [asdict(each) for each in self.adjusted],
        }


def profile_names() -> list[str]:
    """All there are."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


@cache
def profile_of(name: str) -> Profile:
    """The profile of this name, or of a file (its path ends in .yaml), with what it extends.

    StackcostError when there is none, or the file is none.
    """
    path = Path(name) if name.endswith(PROFILE_SUFFIX) else FOLDER / f"{name}{PROFILE_SUFFIX}"
    if not path.is_file():
        raise StackcostError(
            f"there is no profile {name!r} for Onload",
            f"one of {', '.join(profile_names())}, or a file",
        )
    _check_name(path)
    try:
        own = Profile.model_validate(dict(read_yaml(path, "the profile")) | {"name": path.stem})
    except (ValueError, TypeError) as error:
        raise StackcostError(f"{path} is no profile of Onload: {error}") from error
    if own.extends is None:
        return own
    if own.extends not in profile_names():
        raise StackcostError(
            f"{path}: extends: there is no built-in profile {own.extends!r}",
            f"one of {', '.join(profile_names())}",
        )
    base = profile_of(own.extends)
    inherited = {name: v for name, v in base.settings.items() if name not in own.without}
    return own.model_copy(
        update={
            "settings": inherited | own.settings,
            "imports": [*base.imports, *own.imports],
        }
    )


def _check_name(path: Path) -> None:
    """A system has the name of the profile's file, and a published one means what is published."""
    if path.parent != FOLDER and path.stem in profile_names():
        raise StackcostError(
            f"{path}: {path.stem} is a built-in profile, so figures of the two could not be told "
            "apart",
            "give the file another name",
        )
    if not re.fullmatch(r"[\w.-]+", path.stem):
        raise StackcostError(
            f"{path}: a profile's name stands in the name of a system",
            "use letters, digits, '-', '_' and '.'",
        )


def settle(profile: Profile, workers: int, af_xdp: bool, counted: bool = False) -> OnloadSettings:
    """The profile's values for so many workers, adjusted where the interface is one of AF_XDP, and
    where instructions are `counted`.

    EF_NO_FAIL is 0 in any case: with 1, what Onload cannot accelerate runs on the kernel's stack
    without a word.
    """
    values = {name: _settled(value, workers) for name, value in profile.settings.items()}
    rules = [Rule(name="EF_NO_FAIL", value=0, always=True, reason="it falls back in silence")]
    rules += _rules("af_xdp.yaml") if af_xdp else []
    rules += _rules("counted.yaml") if counted else []
    adjusted = []
    for rule in rules:
        before = values.get(rule.name)
        after = _applied(rule, before)
        if before == after:
            continue
        adjusted.append(Adjustment(rule.name, before, after, rule.reason))
        values.pop(rule.name, None)
        if after is not None:
            values[rule.name] = after
    return OnloadSettings(profile, values, adjusted)


@cache
def _own_values() -> dict[str, Any]:
    """fragments.yaml, which says how to read it."""
    return dict(YAML(typ="safe").load((HERE / "fragments.yaml").read_text()))


def _rules(file: str) -> list[Rule]:
    read = YAML(typ="safe").load((HERE / file).read_text())
    return [Rule.model_validate(rule) for rule in read]


def _applied(rule: Rule, before: str | None) -> str | None:
    if rule.left or (before is None and not rule.always):
        return None
    if rule.most is not None:
        return str(min(rule.most, int(before or rule.most)))
    return str(rule.value)


def _settled(value: int | str, workers: int) -> str:
    number, divided, by = str(value).partition("/")
    if number == WORKERS:
        return str(workers)
    return str(int(number) // workers) if divided and by == WORKERS else str(value)
