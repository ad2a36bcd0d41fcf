"""Ceilings: the highest load a system holds without loss (NDR) and with little of it (PDR)."""
