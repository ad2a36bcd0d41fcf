"""From stored trials of events and mixed traffic to the results of a device under test."""
