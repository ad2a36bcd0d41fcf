"""The kinds of runs: the turns of each, and how it is started."""
