"""The settings that the documents print, value by value, in the tiers and profiles of the suite."""

import json
from pathlib import Path

import pytest

from stackcost.bed.tuning import tier_of
from stackcost.report.published.document import documents
from stackcost.stacks.onload.profile import profile_of

PRINTED: dict[str, dict[str, str]] = json.loads(
    (Path(__file__).parent / "settings.json").read_text()
)
TIERS = {
    "published": "trex_nginx",
    "cookbook": "nginx_cookbook",
    "haproxy-cookbook": "haproxy_cookbook",
    "pinned-together": "nginx_white_paper",
    "pinned-apart": "nginx_white_paper",
}


@pytest.mark.parametrize(("name", "document"), TIERS.items())
def test_every_setting_that_a_document_prints_is_in_its_tier(name: str, document: str) -> None:
    wanted = PRINTED[document]
    sysctls = {key: value for key, value in wanted.items() if not key.startswith("EF_")}
    ours = {key: setting.value for key, setting in tier_of(name).sysctls.items()}
    assert {key: ours.get(key) for key in sysctls} == sysctls


def test_every_step_of_the_haproxy_cookbook_is_set_or_has_a_reason() -> None:
    tier = tier_of("haproxy-cookbook")
    steps = {
        int(each.source.partition("step ")[2])
        for each in [*tier.sysctls.values(), *tier.other.values()]
        if "step " in each.source
    }
    assert steps == set(range(1, 12))


def test_the_white_papers_onload_spins_as_long_as_it_says() -> None:
    ours = {name: str(value) for name, value in profile_of("white-paper").settings.items()}
    (setup,) = (t for t in documents()["nginx_white_paper"].tables if t.name == "Test setup")
    assert float(ours["EF_SPIN_USEC"]) == 1000 * float(setup.rows[-1][1] or 0)
    for name, value in PRINTED["nginx_white_paper"].items():
        if name.startswith("EF_"):
            assert ours[name] in value.split(".."), name


PROFILES = {
    ("nginx_cookbook", "Sections 5.3 and 5.5, profiles"): ["wrk", "balanced"],
    ("haproxy_cookbook", "Appendix A"): [
        *("wrk2", "nginx-server", "reverse-proxy-throughput"),
        *("haproxy-balanced", "haproxy-performance"),
    ],
}


@pytest.mark.parametrize(("document", "table"), PROFILES)
def test_the_profiles_that_a_document_prints_are_those_of_onload_here(
    document: str, table: str
) -> None:
    (printed,) = (each for each in documents()[document].tables if each.name == table)
    for at, name in enumerate(PROFILES[document, table], 1):
        cells = ((row[0], row[at]) for row in printed.rows)
        column = {
            variable: str(int(value)) if isinstance(value, float) else value
            for variable, value in cells
            if value is not None
        }
        whole = {key: str(value) for key, value in profile_of(name).settings.items()}
        assert column and column.items() <= whole.items(), name
        if not profile_of(name).extends:
            assert column == whole, name


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("nginx_cookbook", ["R740XD", "Platinum 8153", "SFN8522", "X2541", "977K"]),
        ("haproxy_cookbook", ["R640", "Gold 6148", "X2541", "1024000", "570000"]),
        ("trex_nginx", ["24154896", "nf_conntrack_ipv4", "with more NICs"]),
        ("nginx_white_paper", ["EF_POLL_FAST_USEC"]),
    ],
)
def test_machines_files_and_settings_are_data_with_their_place(
    document: str, words: list[str]
) -> None:
    tables = documents()[document].tables
    for word in words:
        found = [each for each in tables if any(word in str(c) for row in each.rows for c in row)]
        assert found and all(each.page and each.here for each in found), word
