"""Our default: many clusterings of every view, and what they agree on.

``consensus`` scales views (``_scaling``), draws members (``_members``), joins what they say in a graph of neighbours
(``_graph``, ``_neighbours``) and votes (``_vote``); ``novelty`` measures strangers by the same neighbours.
"""
