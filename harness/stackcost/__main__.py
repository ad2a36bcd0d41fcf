"""`python -m stackcost` is `stackcost`."""

from stackcost.cli import main

main()
