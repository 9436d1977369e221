"""Our default: many clusterings of every view, and what they agree on.

``consensus`` prepares views (``methods.preparation``), draws members (``_members``), joins what they say with a graph
of neighbours (``_graph``) and votes (``_vote``); ``novelty`` measures strangers by the same neighbours.
"""
