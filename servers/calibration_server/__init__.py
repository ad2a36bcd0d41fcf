"""A server that costs a known amount, to prove the suite's own figures by."""

from stackcost.servers.calibration_server.server import CalibrationServer as CalibrationServer
