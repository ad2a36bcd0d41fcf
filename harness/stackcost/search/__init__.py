"""Searches for ceilings: the highest load without loss (NDR) and with little loss (PDR)."""
