"""Programs that stand between clients and a server and open a connection of their own to it."""

from stackcost.duts.proxy.envoy import EnvoyHttp as EnvoyHttp
from stackcost.duts.proxy.envoy import EnvoyTcp as EnvoyTcp
from stackcost.duts.proxy.envoy_out import EnvoyOutHttp as EnvoyOutHttp
from stackcost.duts.proxy.envoy_out import EnvoyOutTcp as EnvoyOutTcp
from stackcost.duts.proxy.haproxy import HAProxyTcp as HAProxyTcp
from stackcost.duts.proxy.nginx import NginxTcp as NginxTcp
