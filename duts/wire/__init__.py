"""No device: the generator's ports are connected directly. It is the twin of every device."""

from stackcost.duts.wire.dut import Wire as Wire
