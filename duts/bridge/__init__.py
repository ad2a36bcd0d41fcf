"""A bridge: frames are switched, not routed."""

from duts.bridge.dut import Bridge as Bridge
