"""A small server of the suite's own in Go, on the kernel's stack and on gVisor's netstack."""

from stackcost.servers.go_web.server import GoOnKernel as GoOnKernel
from stackcost.servers.go_web.server import GoOnNetstack as GoOnNetstack
