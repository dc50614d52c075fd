"""One folder a paper, one file a figure or a group of claims; found by their paths."""
