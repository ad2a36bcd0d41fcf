"""Trials as older versions stored them.

Before `stackcost-trial/2` a load was one object with free keys, and the keys that it had said of
which kind it was. What belongs to a trial with any load is now a field of the trial.

Before `stackcost-trial/3` a trial also had judgements of the time when it ran: its flags, how
steady the rate was, and where the warm-up ended. They are computed from the samples now. Where the
warm-up ended later than planned, the edge that was read is not stored; the computed one is used.
"""

from collections.abc import Callable, Mapping
from typing import Any

JsonObject = Mapping[str, Any]  # as it was read: nothing of it is known yet

# New names by the old ones; the same for all kinds.
OF_A_TRIAL = {
    "round": "round",
    "response_bytes": "response_bytes",
    "before": "before",
    "suspended_s": "suspended_s",
    "stack": "carrier",
}
OF_TRAFFIC = ("client", "schedule", "cut_flows", "frames")
OF_A_RATE = ("latency", "limits", "server_requests")
OF_A_HOLD = ("open_flows", "state", "held_flows", "limits")
OF_HTTP = ("test", "processes", "ended_early", "latency", "server_requests")
OF_COUNTS = (
    *("requests", "rate", "bits_per_second", "failed", "unsent"),
    *("latency_means", "cpu_seconds"),
)
JUDGED = ("flags", "warm_up_found_s", "steadiness")


def unjudged(record: JsonObject) -> dict[str, Any]:
    """A stored trial without what was judged of it when it ran, in the form of trial/3."""
    kept = {name: value for name, value in record.items() if name not in JUDGED}
    if isinstance(load := record.get("load"), Mapping):
        kept["load"] = unjudged(load)
    if isinstance(offered := record.get("offered"), Mapping):
        kept["offered"] = unjudged(offered)
    return kept


def typed(record: JsonObject) -> dict[str, Any]:
    """A stored trial in the form of `stackcost-trial/2`; ValueError when its load is damaged.

    Keys that no version wrote are left out here, and stay in the file.
    """
    old = record.get("load")
    if not isinstance(old, Mapping):
        return dict(record)
    offered_cps = record.get("offered_cps")
    try:
        load = _kind(old)(old, offered_cps)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"no older version wrote this load: {error!r}"[:200]) from error
    kept = {name: value for name, value in record.items() if name not in ("load", "offered_cps")}
    moved = {new: old[name] for name, new in OF_A_TRIAL.items() if name in old}
    return kept | moved | {"load": load}


def _kind(old: JsonObject) -> Callable[[JsonObject, Any], dict[str, Any]]:
    for key, kind in KINDS.items():
        if key in old:
            return kind
    return _constant_load


def _constant_load(old: JsonObject, offered_cps: Any) -> dict[str, Any]:
    names = (*OF_TRAFFIC, *OF_A_RATE, "requests_per_connection")
    return {"kind": "load", "offered_cps": offered_cps, **_some(old, names)}


def _held_flows(old: JsonObject, _offered_cps: Any) -> dict[str, Any]:
    return {"kind": "hold", **_some(old, (*OF_TRAFFIC, *OF_A_HOLD))}


def _http_clients(old: JsonObject, offered_cps: Any) -> dict[str, Any]:
    counted = old.get("http")
    names = {"asked": "settings", "of_the_bed": "others", "clients_stack": "carrier"}
    renamed = {new: old[name] for name, new in names.items() if name in old}
    return {
        "kind": "http",
        "offered_rps": offered_cps or None,  # a closed loop was stored as 0
        "counted": None if counted is None else _some(counted, OF_COUNTS),
        **_some(old, OF_HTTP),
        **renamed,
    }


def _device_event(old: JsonObject, _offered_cps: Any) -> dict[str, Any]:
    event = old["event"]
    course = {
        **_some(event, ("answer_bytes", "dead_timeout_s")),
        **_some(event["times"], ("began", "cut")),
    }
    return {
        "kind": "event",
        "event": event["name"],
        "settings": event["settings"],
        "course": course,
        **_some(old, OF_TRAFFIC),
    }


def _mixed_load(old: JsonObject, _offered_cps: Any) -> dict[str, Any]:
    mix = old["mix"]
    steps = [
        {"flows_per_second": load, "window": {"start": start, "end": end}}
        for load, (start, end) in zip(mix["loads"], mix["spans"], strict=False)
    ]  # a trial that was cut short has loads without a span
    return {"kind": "mix", "steps": steps, **_some(old, OF_TRAFFIC)}


def _search_step(old: JsonObject, offered_cps: Any) -> dict[str, Any]:
    step = old["ceiling"]
    loss = _some(step, ("intended", "lost", "lost_by", "disturbed")) if "lost" in step else None
    offered = _held_flows if step["of"] == "flows" else _constant_load
    return {
        "kind": "search",
        "offered": offered(old, offered_cps),
        "loss": loss,
        **_some(step, ("of", "load", "duration_s", "repeat", "twin")),
    }


# The key by which a kind was told, the first that is there: a search also has those of its load.
KINDS: dict[str, Callable[[JsonObject, Any], dict[str, Any]]] = {
    "event": _device_event,
    "mix": _mixed_load,
    "ceiling": _search_step,
    "test": _http_clients,
    "open_flows": _held_flows,
}


def _some(old: JsonObject, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: old[name] for name in names if name in old}
