"""The k-means family: robust over many views, accelerated and exact, a tree of clusters, and the honest baselines.

``robust_kmeans`` drives ``_robust_rounds`` and ``_robust_assignment`` over views that ``scaling`` prepared as
``_scaled_views``; ``accelerated_kmeans`` drives ``_accelerated_rounds`` with bounds or a tree; ``hierarchical_kmeans``
and ``baselines`` call ``accelerated_kmeans``; all seed by ``_seeding``.
"""
