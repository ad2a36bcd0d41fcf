"""The command line as it is on a machine without the extra `notebooks`: it renders no report.

Rendering takes as long as a short run, and most tests of runs look at what was measured. The look
at what takes the cores is short, too.
"""

from stackcost.cli import main
from stackcost.report import extra
from stackcost.runs import record

if __name__ == "__main__":
    extra.PACKAGES = ("stackcost-without-notebooks",)
    record.LOOKED_S = 0.1
    main()
