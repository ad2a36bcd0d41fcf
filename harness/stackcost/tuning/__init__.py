"""Tuning tiers: named, reversible sets of settings for measuring a server.

Each tier is a file in `tiers/`, with the source of every setting.
"""

from stackcost.tuning.tune import Tuning, tier_lacks, tier_names, tier_of

__all__ = ["Tuning", "tier_lacks", "tier_names", "tier_of"]
