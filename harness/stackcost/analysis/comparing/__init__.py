"""Whether one system takes more than another, in one run or over several."""
