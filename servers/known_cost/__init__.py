"""A server that costs a known amount, to prove the suite's own figures by."""

from stackcost.servers.known_cost.server import KnownCost as KnownCost
