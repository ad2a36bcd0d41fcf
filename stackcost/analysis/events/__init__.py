"""From stored trials of events and mixed traffic to what a device under test made of them."""
