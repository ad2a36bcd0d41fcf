"""Storage of a run's results: one folder with a manifest, samples, trials and the summary."""

from stackcost.store.folder import RunFolder
from stackcost.store.manifest import Manifest

__all__ = ["Manifest", "RunFolder"]
