"""GHF-ART: one pass over any number of channels.

``fusion_art`` checks by ``settings``, grows its field by ``_growing`` (in parts by ``_shards``), reads rows by
``_reader`` and keeps clusters in ``_field``, whose loops are in ``_kernels`` and ``_learning_kernels``; ``_merge``,
``_results``, ``_explain`` and ``_state`` look at it afterwards.
"""
