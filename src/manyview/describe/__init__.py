"""What is said of clusters and items: arrays in, names, profiles and reasons out. Knows no disk.

``profiles`` asks ``names`` (which asks ``tag_shares`` and ``text_words``) and ``likeness``; ``reasons`` and
``nearest_items`` read what ``profiles`` measured; all of them see the items through ``_grouping``.
"""
