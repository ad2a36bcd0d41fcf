"""Formats of stored files: "NAME/NUMBER", where a newer version of a format has a higher number."""

import re

from stackcost.contracts.errors import StackcostError


def check_format(found: object, ours: str, what: str) -> None:
    """StackcostError unless this version reads `found`: the format `ours`, or an older one."""
    name, _, newest = ours.partition("/")
    number = re.fullmatch(rf"{re.escape(name)}/([1-9]\d{{0,5}})", str(found), re.ASCII)
    if number is None:
        raise StackcostError(f"{what} has the format {str(found)[:60]!r} instead of {name}")
    if int(number[1]) > int(newest):
        raise StackcostError(
            f"{what} has the newer format {found}; this version reads up to {ours}",
            "read it with the version of stackcost that wrote it, or update this one: git pull",
        )
