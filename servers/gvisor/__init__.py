"""nginx in gVisor's sandbox, whose netstack carries its connections."""

from stackcost.servers.gvisor.server import NginxInGvisor as NginxInGvisor
from stackcost.servers.gvisor.server import NginxInGvisorByPtrace as NginxInGvisorByPtrace
