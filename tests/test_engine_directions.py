"""The engine's folders include one way only, by the code of script/engine-structure."""

import runpy
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def structure() -> dict[str, Any]:
    return runpy.run_path(str(REPOSITORY / "script/engine-structure"))


def test_no_include_goes_against_the_order(structure: dict[str, Any]) -> None:
    files = structure["read"](REPOSITORY / "engine/src")
    assert len(files) > 200
    assert structure["against"](files) == []


def test_the_order_names_no_folder_that_is_not_there(structure: dict[str, Any]) -> None:
    files = structure["read"](REPOSITORY / "engine/src")
    assert set(structure["ORDER"]) == {file.folder for file in files.values()}


def test_what_a_folder_may_include_may_not_include_it(structure: dict[str, Any]) -> None:
    order = structure["ORDER"]
    both = [(low, high) for high in order for low in order[high] if high in order[low]]
    assert both == []


@pytest.mark.parametrize(
    ("path", "line", "said"),
    [
        ("flow/context.h", '#include "astf/run.h"', "flow must not include astf"),
        ("net/packet.cpp", '  #  include "flow/flow.h"', "net must not include flow"),
        ("rpc/control.cpp", '#include "io/engine.h"', "rpc must not include io"),
        ("io/wire.h", '#include "rpc/control.h"', "io must not include rpc"),
        ("astf/core.cpp", "#include <rte_mbuf.h>", "astf must not know rte_"),
        ("stats/gauges.h", "#include <nlohmann/json.hpp>", "stats must not know nlohmann/"),
        ("other/new.h", "", "other has no place in the order of script/engine-structure"),
    ],
)
def test_an_include_that_goes_up_is_found(
    structure: dict[str, Any], tmp_path: Path, path: str, line: str, said: str
) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(f"#pragma once\n{line}\n")
    (found,) = structure["against"](structure["read"](tmp_path))
    assert said in found
