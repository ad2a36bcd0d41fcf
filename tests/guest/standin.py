"""Stands in for QEMU, or for ssh, by the name that it is called by.

As QEMU it does what the file `behaviour` beside it says: `kvm` works by both accelerators, `hang`
answers by emulation only, `fail` ends at once. At the socket of each shared NIC it waits for an
engine, as QEMU does. As ssh it unpacks what comes into `guest`.
"""

import re
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
MODELS = ("virtio-net-pci", "e1000e", "vmxnet3")


def main() -> None:
    name, words = Path(sys.argv[0]).name, sys.argv[1:]
    if name == "ssh":
        guest = HERE / "guest"
        guest.mkdir(exist_ok=True)
        sys.exit(subprocess.run(["tar", "--extract", "--directory", guest]).returncode)
    if words == ["-device", "help"]:
        print("\n".join(f'name "{model}"' for model in MODELS))
        return
    behaviour = (HERE / "behaviour").read_text()
    if behaviour == "fail":
        sys.exit("cannot set up guest memory")
    for path in re.findall(r"path=([^,]+),server=on", " ".join(words)):
        with socket.socket(socket.AF_UNIX) as shared:
            shared.bind(path)
            shared.listen()
            connection, _ = shared.accept()
            (HERE / "engine").write_text("connected")
    forward = re.search(r"hostfwd=tcp:127.0.0.1:(\d+)-", " ".join(words))
    assert forward
    with socket.create_server(("127.0.0.1", int(forward[1]))) as server:
        if behaviour == "hang" and "kvm" in words:
            time.sleep(1000)
        while True:
            connection, _ = server.accept()
            connection.sendall(b"SSH-2.0-standin\r\n")
            connection.close()


main()
