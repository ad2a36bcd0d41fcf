"""My server as a system under test. The suite calls it "mine", the name of this file."""

import sys
from pathlib import Path

from stackcost.servers.program import HttpProgram


class MyServer(HttpProgram):
    def command(self):
        program = Path(__file__).with_name("server.py")
        where = self.endpoint
        return [sys.executable, str(program), where.address, str(where.port), str(self.body_bytes)]

    def write_files(self):
        pass  # this server has no configuration; everything is in its arguments
