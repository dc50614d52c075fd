"""Pallas kernels; each equals a plain function, and a test says which."""
