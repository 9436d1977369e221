"""The clusters that outlive runs: who is where now, what a person says about them, and what changed.

``state`` reads a run once; ``living`` makes the clusters of today out of it; ``edits`` are a person's words about them.
"""
