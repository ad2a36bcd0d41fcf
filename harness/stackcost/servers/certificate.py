"""A self-signed certificate of a server, for clients that do not verify it."""

import subprocess
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.http import P256, RSA, Certificate
from stackcost.host.namespace import find_program

CERTIFICATE_FILE, KEY_FILE, BOTH_FILE = "certificate.pem", "key.pem", "both.pem"
OPTIONS = {RSA: ["rsa:2048"], P256: ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]}


def make_certificate(folder: Path, name: str, kind: Certificate) -> None:
    """Write a self-signed certificate for `name` and its key, good for some days, into `folder`.

    `BOTH_FILE` has the two in one file, as HAProxy and lighttpd read them.
    """
    openssl = find_program("openssl")
    done = subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", *OPTIONS[kind], "-nodes", "-days", "7"),
            *("-subj", f"/CN={name}", "-keyout", KEY_FILE, "-out", CERTIFICATE_FILE),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise StackcostError(f"openssl did not create a certificate: {done.stderr[-300:]}")
    both = (folder / CERTIFICATE_FILE).read_text() + (folder / KEY_FILE).read_text()
    (folder / BOTH_FILE).write_text(both)
