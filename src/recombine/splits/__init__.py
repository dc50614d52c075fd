"""Which combinations are trained on."""
