"""A TRex as its client sees it: TRex's own methods, and none of astf-engine's."""

from typing import Any


class TrexStandIn:
    """`busy`: percent of each data core's time in the newest second, as TRex tells them."""

    def __init__(self, busy: list[int]):
        self.busy = busy

    def stats(self) -> dict[str, Any]:
        return {"traffic": {"client": {}, "server": {}}}

    def supports(self, method: str) -> bool:
        return method == "get_utilization"

    def call(self, method: str, params: dict[str, Any]) -> Any:
        assert method == "get_utilization", f"a TRex has no {method}"
        cores = [{"history": [newest, 99, 0], "ports": [0, 1]} for newest in self.busy]
        pools = {"64b": [8000, 8176], "2048b": [4000, 4088]}
        return {"cpu": cores, "mbuf_stats": {"cpu-socket-0": pools}}
