"""Do, Shah, Le, Liu: Compositionality Emerges in a Narrow Depth-Connectivity Regime (2026).

arXiv 2606.19941, on the picture networks of kumar2025. No code of the paper is public and its method section could not
be read: similarity-based pruning, the depth predictor and the formulas here are reconstructions, and said to be.
"""
