"""What the experiments on sequences of tokens share."""
