"""`python -m stackcost.harness` is `stackcost` from a checkout that is not installed."""

from stackcost.harness.cli import main

main()
