"""Systems under test, one folder each; `stackcost.contracts.server` says what every one of them offers."""
