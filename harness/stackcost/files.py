"""Files of the suite that are no modules: one place for each, in a checkout and in a wheel.

In a checkout they are at the top of it. A wheel has the same tree as the folder `suite` of this
package, and in it the engine that was built for it. What belongs to one module (a template, a
source in C) stands beside that module instead.
"""

from pathlib import Path

PACKAGE = Path(__file__).parent
IMPORTED_FROM = PACKAGE.parent  # the folder in which `import stackcost` finds it
PACKED = PACKAGE / "suite"
SUITE = PACKED if PACKED.is_dir() else IMPORTED_FROM.parent
# All of it but the engine, which a wheel has in another build.
NAMES = (
    *("servers", "duts", "trex_profiles", "experiments", "examples", "notebooks", "pcaps"),
    *("published", "debian-packages.txt"),
)
SERVERS = SUITE / "servers"
DUTS = SUITE / "duts"
EXPERIMENTS = SUITE / "experiments"
PROFILES = SUITE / "trex_profiles"
NOTEBOOKS = SUITE / "notebooks"
PUBLISHED = SUITE / "published"
EXAMPLES = SUITE / "examples"
DEBIAN_PACKAGES = SUITE / "debian-packages.txt"
ENGINE = SUITE / "build/engine/astf-engine"
