"""Why a connection costs what it costs: exact times, divided by samples of stacks."""
