"""Systems under test, one folder each; `stackcost.contracts.server` says what each offers."""
