"""The test bed on this machine: namespaces, wire, steering, hugepages, clean-up."""
