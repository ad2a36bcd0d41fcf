"""`python -m harness` is `stackcost` from a checkout that is not installed."""

from harness.cli import main

main()
