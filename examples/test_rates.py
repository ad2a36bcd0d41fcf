"""Tests of a front end's rates. Copy this file to your tests. See docs/gate.md.

`nginx_kernel` is a built-in experiment; give the path of your own, from pytest's root folder.
"""


def test_front_end_is_not_below_its_baseline(cps_ceiling):
    cps_ceiling("nginx_kernel").not_below_baseline(tolerance=0.03)


def test_front_end_would_take_a_thousand(cps_ceiling):
    cps_ceiling("nginx_kernel").at_least(1000)
