"""What the gallery and ``show`` read off a collection: one ``Index`` of it, and questions to that.

``search`` and ``item_facts`` ask the ``index``; ``inventory`` and ``estimate`` say what a fit will cost; ``explain``,
``classes`` and ``map_layout`` are asked once a run is there.
"""
