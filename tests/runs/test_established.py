"""How many flows are held: those that are established, and none less for each that was refused."""

from stackcost.runs.loads.held import established

REFUSED = {"tcps_connattempt": 100, "tcps_connects": 50, "tcps_closed": 50, "tcps_conndrops": 50}


def test_a_refused_flow_hides_no_open_one() -> None:
    assert established({**REFUSED, "m_est_flows": 0}) == 50


def test_a_closed_flow_is_not_held() -> None:
    assert established({**REFUSED, "tcps_closed": 80}) == 20


def test_no_flow_is_none() -> None:
    assert established({}) == 0
