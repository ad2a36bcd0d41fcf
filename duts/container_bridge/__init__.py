"""A published port of a container, on a host with a bridge and iptables."""

from stackcost.duts.container_bridge.dut import ContainerBridge as ContainerBridge
