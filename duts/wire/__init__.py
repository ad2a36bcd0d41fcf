"""No device: the generator's ports back to back, the twin of every device."""

from stackcost.duts.wire.dut import Wire as Wire
