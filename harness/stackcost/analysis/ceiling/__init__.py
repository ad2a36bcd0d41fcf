"""From stored trials of searches to ceilings and their bottlenecks."""
