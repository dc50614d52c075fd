"""Liang, Qian, Ziyin, Fiete: Compositional Generalization Requires More Than Disentangled Representations (ICML 2025).

arXiv 2501.18797. A decoder that is given x and y in separate, perfectly disentangled codes is trained on bumps
everywhere but in a square hole, and evaluated in the hole.
"""
