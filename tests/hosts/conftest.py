"""Fixtures of tests with other hosts."""

from collections.abc import Iterator

import pytest

from tests.hosts.lab import Lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Two hosts."""
    with Lab(tmp_path_factory.mktemp("lab")) as made:
        yield made
