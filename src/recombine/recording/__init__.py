"""From models to Records, and to exact derivatives."""
