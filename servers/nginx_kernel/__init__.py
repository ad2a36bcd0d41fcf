"""nginx on the kernel's TCP."""

from servers.nginx_kernel.server import NginxKernel as NginxKernel
