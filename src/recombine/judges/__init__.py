"""Judges outside the lab that look at pictures and say yes or no."""
