"""Commands inside a namespace."""

import pytest

from stackcost.bed.local import LocalTestbed
from stackcost.contracts.errors import StackcostError
from stackcost.host import namespace


@pytest.mark.bed
def test_a_command_that_hangs_is_named_after_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalTestbed(wanted_hugepages=0) as bed:
        monkeypatch.setattr(namespace, "EXECUTE_LIMIT_S", 0.3)
        hangs = r"`sleep 20` in stackcost-server did not end in 0.3 s"
        with pytest.raises(StackcostError, match=hangs) as error:
            namespace.execute(bed.server_namespace, ["sleep", "20"])
        monkeypatch.undo()
    assert "timeout_factor" in error.value.hint
