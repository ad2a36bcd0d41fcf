#!/usr/bin/env python3
"""Stands in for t-rex-64: records how it is started, then serves.

With RECORDING_TREX_ENGINE it becomes that engine on the same configuration, so that it can be
driven. Without, a child of it listens on the RPC port, as TRex's own child of its script does.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

argv = sys.argv[1:]
if argv[0] == "--listen":
    listener = socket.create_server(("127.0.0.1", int(argv[1])))
    time.sleep(300)

configuration = Path(argv[argv.index("--cfg") + 1]).read_text()
record = {"argv": argv, "cwd": os.getcwd(), "configuration": configuration}
Path(__file__).with_name("record.json").write_text(json.dumps(record))

engine = os.environ.get("RECORDING_TREX_ENGINE")
if engine:
    os.execv(engine, [engine, "--cfg", argv[argv.index("--cfg") + 1], "-c", argv[-4]])
rpc_port = re.search(r"zmq_rpc_port: (\d+)", configuration).group(1)
child = subprocess.Popen([sys.executable, __file__, "--listen", rpc_port])
Path(__file__).with_name("child").write_text(str(child.pid))
sys.exit(128 - child.wait())  # as its script does for a child that a signal ended
