"""Onload: what it needs, how it is made ready, started and checked, and how it goes wrong."""

from stackcost.stacks.onload.installation import Installation
from stackcost.stacks.onload.interface import refused
from stackcost.stacks.onload.launcher import PREFIX, Onload
from stackcost.stacks.onload.profile import PROFILE_SUFFIX, profile_names, profile_of

__all__ = [
    "PREFIX",
    "PROFILE_SUFFIX",
    "Installation",
    "Onload",
    "profile_names",
    "profile_of",
    "refused",
]
