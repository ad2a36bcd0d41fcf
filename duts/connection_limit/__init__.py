"""A firewall that limits new connections a second, and open ones of each client."""

from stackcost.duts.connection_limit.dut import ConnectionLimit as ConnectionLimit
