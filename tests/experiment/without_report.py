"""The command line as it is on a machine without the extra `notebooks`: it renders no report.

Rendering takes as long as a short run, and most tests of runs look at what was measured.
"""

from stackcost.cli import main
from stackcost.report import extra

if __name__ == "__main__":
    extra.PACKAGES = ("stackcost-without-notebooks",)
    main()
