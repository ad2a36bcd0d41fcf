"""TLS of both ends of the engine's in-memory wire, as the RPC methods tell of it."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.session.profile_session import TLS_KEYS, keep_tls_keys
from stackcost.trex.client import TrexClient
from tests.trex.conftest import PROFILES

TIMEOUT_S = 60.0
LENGTH = 20_000


def run(client: TrexClient, profile: str, *tls: dict[str, Any]) -> int:
    """One run to its end; the connections that were opened."""
    client.load_profile(PROFILES / profile, {"response_bytes": LENGTH})
    client.call("stackcost_set_payload_check", {"profile_id": "_", "enabled": True})
    for rule in tls:
        client.call("stackcost_set_tls", {"profile_id": "_", **rule})
    client.start(100, 0.5)
    client.wait_on_traffic(TIMEOUT_S)
    return int(client.stats()["traffic"]["client"]["tcps_connattempt"])


def told(client: TrexClient) -> dict[str, Any]:
    (template,) = client.call("stackcost_get_tls", {"profile_id": "_"})["templates"]
    return dict(template)


@pytest.mark.parametrize("profile", ["http_program.py", "http_keepalive.py"])
def test_every_connection_is_encrypted_and_whole(client: TrexClient, profile: str) -> None:
    opened = run(client, profile, {"version": "1.3", "group": "X25519"})
    assert opened > 20
    for side in ("client", "server"):
        found = told(client)[side]
        assert found["handshakes_full"] == opened
        assert found["failed"] == found["truncated"] == 0
        assert (
            found["received_bytes"]
            == told(client)["server" if side == "client" else "client"]["sent_bytes"]
        )
    (check,) = client.call("stackcost_get_payload_check", {"profile_id": "_"})["templates"]
    assert check["client"]["compared_bytes"] == told(client)["client"]["received_bytes"]
    assert check["client"]["mismatched_bytes"] == check["server"]["mismatched_bytes"] == 0
    latency = client.call("stackcost_get_latency", {"profile_id": "_"})["templates"][0]
    assert latency["tls_handshake"]["count"] == opened
    assert latency["connect"]["sum"] < latency["tls_handshake"]["sum"]


def test_later_connections_resume_by_ticket(client: TrexClient) -> None:
    opened = run(client, "http_program.py", {"port": 80, "resumption": True})
    assert told(client)["client"]["handshakes_resumed"] > 0.9 * opened


def test_secrets_are_kept_only_on_request_and_as_others_read_them(
    client: TrexClient, tmp_path: Path
) -> None:
    run(client, "http_program.py", {"version": "1.3"})
    keep_tls_keys(client.call, tmp_path)
    assert not list(tmp_path.iterdir())
    opened = run(client, "http_program.py", {"version": "1.3", "key_log": True})
    keep_tls_keys(client.call, tmp_path)
    keep_tls_keys(client.call, tmp_path)
    lines = (tmp_path / TLS_KEYS).read_text().splitlines()
    form = re.compile(r"([A-Z_0-9]+) ([0-9a-f]{64}) (?:[0-9a-f]{2}){32,48}")
    found = [match.groups() for line in lines if (match := form.fullmatch(line))]
    assert len(found) == len(lines)
    labels = Counter(label for label, _ in found)
    for label in ("CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"):
        assert labels[label] == 2 * opened  # both ends are the engine's
    assert len({random for _, random in found}) == opened


def test_the_next_upload_has_no_tls(client: TrexClient) -> None:
    run(client, "http_program.py", {})
    run(client, "http_program.py")
    assert client.call("stackcost_get_tls", {"profile_id": "_"}) == {"templates": []}


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ({"port": 444}, "no TCP template to port 444"),
        ({"group": "P-999"}, "TLS group 'P-999': OpenSSL .* has none"),
        (
            {"cipher": "NULL-NOTHING"},
            "TLS cipher 'NULL-NOTHING': OpenSSL .* has no suite of that name",
        ),
    ],
)
def test_what_cannot_be_is_told_at_the_start(
    client: TrexClient, rule: dict[str, Any], why: str
) -> None:
    with pytest.raises(StackcostError, match=why):
        run(client, "http_program.py", rule)
