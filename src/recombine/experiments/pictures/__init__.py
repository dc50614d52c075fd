"""What the experiments of both picture papers share."""
