"""A bridge: frames are switched, not routed."""

from stackcost.duts.bridge.dut import Bridge as Bridge
