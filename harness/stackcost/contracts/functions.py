"""Words in the place of a function's name, of collectors that name stacks and what reads them."""

UNNAMED = "[unknown]"
RETURNS = "[return of a system call]"  # behind a function of a program: one returns there
