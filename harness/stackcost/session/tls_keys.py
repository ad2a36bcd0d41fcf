"""Secrets of TLS connections, where an experiment asks for them (`load.tls.key_log`)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from stackcost.collect.engine import TLS_KEYS_METHOD
from stackcost.trex.astf_client import ONLY

TLS_KEYS = "tls_keys.log"


def keep_tls_keys(call: Callable[[str, dict[str, Any]], Any], folder: Path) -> None:
    """Append what the generators kept and nobody has taken to TLS_KEYS in `folder`.

    `call`: of the generators. The lines are as of NSS's key log (SSLKEYLOGFILE), which Wireshark
    reads. Without any, no file is made.
    """
    while lines := call(TLS_KEYS_METHOD, {"profile_id": ONLY})["lines"]:
        with (folder / TLS_KEYS).open("a") as file:
            file.write(lines)
