"""A test of what a connection costs a front end. Copy this file to yours. See docs/gate.md."""


def test_a_connection_costs_no_more_than_its_baseline(cost_ceiling):
    cost_ceiling("nginx_kernel").not_above_baseline(tolerance=0.01)
