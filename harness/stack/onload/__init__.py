"""Onload: what it needs, how it is made ready, started and proved, and how it goes wrong."""

from harness.stack.onload.installation import Installation
from harness.stack.onload.launcher import PREFIX, Onload
from harness.stack.onload.profile import profile_names, profile_of

__all__ = ["PREFIX", "Installation", "Onload", "profile_names", "profile_of"]
