"""Many beds: the cells of a set of experiments, each measured once, on any bed that is free."""
