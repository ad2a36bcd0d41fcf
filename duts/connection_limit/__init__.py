"""A firewall that limits new connections per second, and open connections of each client."""

from stackcost.duts.connection_limit.dut import ConnectionLimit as ConnectionLimit
