"""From stored trials of searches to ceilings, and to what gave way first."""
