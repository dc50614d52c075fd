"""Changes of single weights, and what they do to the picture."""
