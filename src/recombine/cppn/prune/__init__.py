"""Ways to prune a picture network, and other wirings of as many links."""
