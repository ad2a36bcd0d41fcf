"""Systems under test, one folder each; `stackcost.contracts.server` describes the interface."""
