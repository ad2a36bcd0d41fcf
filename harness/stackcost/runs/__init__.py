"""One runner for every kind of run, and the kinds: the turns of each, and how it is started."""
