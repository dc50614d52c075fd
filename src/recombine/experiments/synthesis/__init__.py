"""A synthesis note over nine sources: why scaling data and model size improves compositional generalization.

Its sentences on single papers are judged beside those papers. Here is the question that joins them: is held-out success
a matter of what training covers, or does scale help beyond that? Six families of tasks are asked in one and the same
way, three of them by transformers over sequences.
"""
