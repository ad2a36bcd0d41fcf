"""Onload's profiles as data: what a publication says, and what AF_XDP changes of it."""

from pathlib import Path

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import read_experiment
from stackcost.files import EXPERIMENTS
from stackcost.stacks import check_stack, on_stack, stack_names
from stackcost.stacks.onload.profile import profile_names, profile_of, settle


def test_every_profile_of_the_publications_is_a_stack() -> None:
    wanted = {"balanced", "performance", "wrk", "wrk2", "nginx-server", "white-paper"}
    wanted |= {"haproxy-balanced", "haproxy-performance", "reverse-proxy-throughput"}
    wanted |= {"white-paper-caching"}
    assert wanted == set(profile_names())
    assert {"kernel", "mptcp", *(f"onload-{name}" for name in wanted)} == set(stack_names())
    with pytest.raises(StackcostError, match="no stack 'onload-throughput'"):
        check_stack("onload-throughput")  # a fragment of Onload's, and no profile


def test_on_a_nic_of_its_own_a_profile_is_as_published_but_for_the_silent_fall_back() -> None:
    for name in profile_names():
        profile = profile_of(name)
        settled = settle(profile, 4, af_xdp=False)
        assert settled.values.pop("EF_NO_FAIL") == "0"
        published = {key for key in profile.settings if key != "EF_NO_FAIL"}
        assert settled.values.keys() == published
        assert [each.name for each in settled.adjusted] == ["EF_NO_FAIL"]


def test_values_follow_the_workers() -> None:
    values = settle(profile_of("haproxy-balanced"), 4, af_xdp=False).values
    assert (values["EF_CLUSTER_SIZE"], values["EF_MAX_PACKETS"]) == ("4", "720000")


@pytest.mark.parametrize("name", profile_names())
def test_where_instructions_are_counted_no_profile_spins(name: str) -> None:
    settled = settle(profile_of(name), 1, af_xdp=True, counted=True)
    assert (settled.values["EF_POLL_USEC"], settled.values["EF_SPIN_USEC"]) == ("0", "0")
    assert "EF_SLEEP_SPIN_USEC" not in settled.values
    assert {"EF_POLL_USEC", "EF_SPIN_USEC"} <= {each.name for each in settled.adjusted}


def test_one_profile_extends_another() -> None:
    balanced, performance = profile_of("haproxy-balanced"), profile_of("haproxy-performance")
    changed = {"EF_TX_PUSH": 1, "EF_SLEEP_SPIN_USEC": 0}
    assert performance.settings == balanced.settings | changed
    assert "EF_SLEEP_SPIN_USEC" not in profile_of("performance").settings
    assert profile_of("performance").imports == ["throughput", "wan-traffic"]


@pytest.mark.parametrize("name", profile_names())
def test_by_af_xdp_every_profile_fits_one_queue_and_says_what_was_changed(name: str) -> None:
    settled = settle(profile_of(name), 4, af_xdp=True)
    values = settled.values
    assert int(values["EF_MAX_PACKETS"]) <= 32768 and int(values["EF_MAX_ENDPOINTS"]) <= 65536
    assert values["EF_CLUSTER_SIZE"] == "0" and "EF_CLUSTER_IGNORE" not in values
    assert "EF_SOCKET_CACHE_MAX" not in values.keys() - profile_of(name).settings.keys()
    assert "EF_SCALABLE_FILTERS" not in values
    for each in settled.adjusted:
        assert each.reason and each.published != each.used
        assert values.get(each.name) == each.used


def test_fragments_come_after_what_they_must_not_change() -> None:
    lines = settle(profile_of("balanced"), 1, af_xdp=True).text().splitlines()
    imports = lines.index("onload_import throughput")
    assert lines[imports + 1] == "onload_import wan-traffic"
    assert "onload_set EF_MAX_PACKETS 32768" in lines[:imports]
    assert lines[imports - 1] == "EF_CLUSTER_SIZE=1", "throughput divides by it"
    assert lines[-1] == "onload_set EF_CLUSTER_SIZE 0"


def test_a_server_is_called_by_its_stack() -> None:
    assert on_stack("nginx/kernel", "onload-balanced") == "nginx/onload-balanced"
    assert on_stack("haproxy", "onload-balanced") == "haproxy/onload-balanced"
    assert on_stack("nginx/kernel", "kernel") == "nginx/kernel"


def test_a_profile_of_ones_own_is_a_stack_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "cached.yaml"
    path.write_text(
        "title: mine\nsource: mine\nextends: white-paper\nsettings: {EF_SOCKET_CACHE_MAX: 9}\n"
    )
    check_stack(str(path))
    assert on_stack("nginx/kernel", str(path)) == "nginx/onload-cached"
    own, base = profile_of(str(path)), profile_of("white-paper")
    assert (own.name, own.settings) == ("cached", base.settings | {"EF_SOCKET_CACHE_MAX": 9})


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("none.yaml", None, "there is no profile"),
        ("balanced.yaml", "{title: a, source: b}", "balanced is a built-in profile"),
        ("a,b.yaml", "{title: a, source: b}", "stands in the name of a system"),
        ("own.yaml", "{title: a, sauce: b}", "is no profile of Onload"),
        ("own.yaml", "[1]", "is no profile of Onload"),
        ("own.yaml", "{title: a, source: b, extends: own.yaml}", "there is no built-in profile"),
    ],
)
def test_a_file_that_is_no_profile_is_refused(
    tmp_path: Path, name: str, text: str | None, told: str
) -> None:
    if text:
        (tmp_path / name).write_text(text)
    with pytest.raises(StackcostError, match=told):
        check_stack(str(tmp_path / name))


def test_the_white_papers_two_features_are_each_on_and_off() -> None:
    """Its appendix II leaves EF_SOCKET_CACHE_MAX out, so that it is off as printed."""
    as_printed = settle(profile_of("white-paper"), 4, af_xdp=True)
    cached = settle(profile_of("white-paper-caching"), 4, af_xdp=True)
    assert (as_printed.cached_sockets, cached.cached_sockets) == (0, 16_384)
    names = [
        each.name for each in variants(read_experiment(EXPERIMENTS / "openonload_features.yaml"))
    ]
    assert names == [
        f"nginx/{stack}:{listeners}"
        for stack in ("kernel", "onload-white-paper", "onload-white-paper-caching")
        for listeners in ("reuseport", "one-listener")
    ]
