"""Dziri, Lu, Sclar, Li, Jiang and others: Faith and Fate: Limits of Transformers on Compositionality (2023).

arXiv 2305.18654. Large language models are found to match subgraphs of computations that they have seen, and to fail on
others. Here small transformers over sequences of tokens are trained from scratch, so that what was seen is known, and
subgraphs are withheld at random.
"""
