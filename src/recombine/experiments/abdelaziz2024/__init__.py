"""Abdelaziz et al., "Granite-Function Calling Model: Introducing Function Calling Abilities via Multi-task Learning of
Granular Tasks" (2024), known here by its abstract and by reading notes.

arXiv 2407.00121. The claims are worded twice: as a synthesis note words them, and ours.
"""
