"""A self-signed certificate of a server, for clients that do not verify it."""

import subprocess
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.host.namespace import find_program

KEY = "RSA, 2,048 bits"
CERTIFICATE_FILE, KEY_FILE = "certificate.pem", "key.pem"


def make_certificate(folder: Path, name: str) -> None:
    """Write a self-signed certificate for `name` and its key, good for some days, into `folder`."""
    openssl = find_program("openssl")
    done = subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "7"),
            *("-subj", f"/CN={name}", "-keyout", KEY_FILE, "-out", CERTIFICATE_FILE),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise StackcostError(f"openssl did not create a certificate: {done.stderr[-300:]}")
