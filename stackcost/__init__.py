"""The library of stackcost, which every other package may import and which imports none of them."""
