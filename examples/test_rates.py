"""Tests of a front end's rates. Copy this file to your experiments. See docs/gate.md."""


def test_front_end_is_not_below_its_baseline(cps_ceiling):
    cps_ceiling("experiments/nginx_kernel.yaml").not_below_baseline(tolerance=0.03)


def test_front_end_would_take_a_thousand(cps_ceiling):
    cps_ceiling("experiments/nginx_kernel.yaml").at_least(1000)
