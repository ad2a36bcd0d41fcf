"""Files of the suite that are no modules: one place for them, in a checkout and in a wheel.

In a checkout the entries of this folder are links to the folders at the top. A wheel has the files
themselves here, and the engine that was built for it. What belongs to one module (a template, a
source in C) stands beside that module instead.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
IMPORTED_FROM = FOLDER.parents[1]  # the folder in which `import stackcost` finds it
EXPERIMENTS = FOLDER / "experiments"
PROFILES = FOLDER / "trex_profiles"
NOTEBOOKS = FOLDER / "notebooks"
PUBLISHED = FOLDER / "published"
EXAMPLES = FOLDER / "examples"
SCHEMAS = FOLDER / "schema"
DEBIAN_PACKAGES = FOLDER / "debian-packages.txt"
ENGINE = FOLDER / "astf-engine"
