"""nginx on the kernel's TCP."""

from servers.nginx_kernel.server import NginxKernel as NginxKernel
from servers.nginx_kernel.tiers import TIERS as TIERS
from servers.nginx_kernel.tiers import Tier as Tier
