"""The lab of two beds, whose hosts are namespaces."""

from collections.abc import Iterator

import pytest

from tests.hosts.lab import Lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(tmp_path_factory.mktemp("lab"), ("a1", "b1", "a2", "b2")) as made:
        for host in made.others.values():  # two beds would change this machine's in turn
            host.said("mount", "-t", "tmpfs", "none", "/sys/kernel/mm/hugepages")
        yield made
