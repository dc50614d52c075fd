"""Redhardt, Akram, Schug: Scaling can lead to compositional generalization (NeurIPS 2025).

arXiv 2507.07207. A student is told which modules make up a task, and must answer as the teacher made of them would;
some combinations of modules are never shown.
"""
