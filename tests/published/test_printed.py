"""published/ against the documents' own text, value by value."""

import json
from pathlib import Path

import pytest

from stackcost.files import PUBLISHED
from stackcost.published.document import documents
from stackcost.published.recomputed import Fact, read_publication
from stackcost.stacks.onload.profile import profile_of
from stackcost.tuning import tier_of
from tests.published.documents import (
    FACTS,
    TITLES,
    VARIABLE,
    documents_folder,
    printed,
    settings,
    texts,
)

PRINTED = Path(__file__).parent / "printed"


def found(name: str) -> dict[str, list[list[float]]]:
    """What `documents.py` read out of one document's text."""
    tables: dict[str, list[list[float]]] = json.loads((PRINTED / f"{name}.json").read_text())
    return tables


@pytest.mark.parametrize("name", TITLES)
def test_every_value_of_every_table_is_as_it_is_printed(name: str) -> None:
    wanted = found(name)
    tables = documents()[name].tables
    assert {table.name for table in tables} == {
        each for each in wanted if each not in FACTS and each != "top"
    }
    for table in tables:
        rows = [[float(c) for c in row if isinstance(c, float | int)] for row in table.rows]
        assert rows == [pytest.approx(row, rel=1e-9) for row in wanted[table.name]], table.name


def test_what_is_computed_with_is_as_it_is_printed() -> None:
    wanted = found("trex_nginx")
    publication = read_publication(PUBLISHED / "trex_nginx.yaml")
    assert publication.cpu.top == wanted["top"]
    facts = {"clock_hz": publication.clock_hz}
    for part in ("cpu", "memory"):
        for name, fact in getattr(publication, part):
            if isinstance(fact, Fact) and not fact.at.startswith("measured here"):
                facts[f"{part}.{name}"] = fact
    assert {name: [[fact.value]] for name, fact in facts.items()} == {
        name: wanted[name] for name in FACTS
    }


TIERS = {
    "published": "trex_nginx",
    "cookbook": "nginx_cookbook",
    "haproxy-cookbook": "haproxy_cookbook",
    "pinned-together": "nginx_white_paper",
    "pinned-apart": "nginx_white_paper",
}


@pytest.mark.parametrize(("name", "document"), TIERS.items())
def test_every_setting_that_a_document_prints_is_in_its_tier(name: str, document: str) -> None:
    wanted = json.loads((PRINTED / "settings.json").read_text())[document]
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
    wanted = json.loads((PRINTED / "settings.json").read_text())["nginx_white_paper"]
    ours = {name: str(value) for name, value in profile_of("white-paper").settings.items()}
    spinning = found("nginx_white_paper")["Test setup"][-1][0]
    assert float(ours["EF_SPIN_USEC"]) == 1000 * spinning
    for name, value in wanted.items():
        if name.startswith("EF_"):
            assert ours[name] in value.split(".."), name


@pytest.mark.skipif(
    documents_folder() is None,
    reason=f"the documents are not ours to ship; {VARIABLE} names the folder of their texts",
)
@pytest.mark.parametrize("name", TITLES)
def test_what_is_kept_here_is_what_the_documents_say(name: str) -> None:
    folder = documents_folder()
    assert folder is not None
    text = texts(folder)[name]
    assert printed(name, text) == found(name)
    kept = json.loads((PRINTED / "settings.json").read_text())
    assert settings(text) == kept[name]
