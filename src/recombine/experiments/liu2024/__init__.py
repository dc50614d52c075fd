"""Liu and others: MobileLLM: Optimizing Sub-billion Parameter Language Models for On-Device Use Cases (2024).

arXiv 2402.14905; and Petty, van Steenkiste, Dasgupta, Sha, Garrette, Linzen: The Impact of Depth on Compositional
Generalization in Transformer Language Models (2023, arXiv 2310.19956). Does depth help at a fixed size, and by
composing? Both were known here by their abstracts; small transformers over sequences, trained from scratch, stand in
for language models.
"""
