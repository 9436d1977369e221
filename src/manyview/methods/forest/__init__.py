"""HML-RF: a forest over views, judged by sparse tags at several levels of abstraction.

``tag_forest`` bins the views (``_bins``), softens tags by co-occurrence (``_soft_tags``) and layers (``_tag_layers``),
grows trees (``_trees``, with both kernels) of leaves whose size may be found (``_leaf_size``), and reads clusters
(``_clusters``) off them; ``_results`` answers, with tag scores (``_scores``).
"""
