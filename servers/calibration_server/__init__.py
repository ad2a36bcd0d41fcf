"""A server with a known cost, to check the suite's own figures."""

from stackcost.servers.calibration_server.server import CalibrationServer as CalibrationServer
