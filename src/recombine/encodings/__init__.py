"""Turns positions and tasks into the codes that a network is given."""
