"""Trains populations of networks: a pure function of their keys."""
