"""ASTF servers (astf-engine, t-rex-64), and the client of TRex that drives them."""
