"""Redhardt, Akram, Schug: Scaling can lead to compositional generalization (NeurIPS 2025).

arXiv 2507.07207. A student is given an encoding of the modules that make up a task, and must answer as the
teacher made of them would; some combinations of modules are never shown.
"""
