"""No device: the generator's ports back to back, the twin of every device."""

from duts.wire.dut import Wire as Wire
