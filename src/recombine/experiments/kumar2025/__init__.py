"""Kumar, Clune, Lehman, Stanley: Questioning Representational Optimism in Deep Learning (2025).

arXiv 2505.11581, the fractured entangled representation hypothesis. A network that was designed (or evolved) and one
that gradient descent made of the same picture draw alike and are not alike inside. The default targets are pictures
designed by hand; evolved ones are added where a folder of them is named.
"""
