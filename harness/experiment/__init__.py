"""An experiment: what to compare (schema), how it is run (runner), and what is seen meanwhile."""
