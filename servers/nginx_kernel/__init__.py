"""nginx on the kernel's TCP."""

from stackcost.servers.nginx_kernel.server import NginxKernel as NginxKernel
