"""Formats of stored files: "NAME/NUMBER". A version of stackcost reads one number of each."""

from stackcost.contracts.errors import StackcostError


def check_format(found: object, ours: str, what: str) -> None:
    """StackcostError unless `found` is the format that this version reads."""
    if found != ours:
        raise StackcostError(
            f"{what} has the format {str(found)[:60]!r}; this version reads {ours}",
            "read it with the version of stackcost that wrote it, or measure again",
        )
