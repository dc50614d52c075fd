"""Abdelaziz et al., Granite-Function Calling Model: function calls by learning of granular tasks (2024).

arXiv 2407.00121, known here by its abstract and by reading notes. Small transformers over sequences of tokens stand in
for language models. The claims are worded twice: as a synthesis note words them, and ours.
"""
