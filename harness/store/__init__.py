"""Where a run's results lie: one folder with a manifest, samples, trials and the summary."""

from harness.store.folder import RunFolder
from harness.store.manifest import Manifest

__all__ = ["Manifest", "RunFolder"]
