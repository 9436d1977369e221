"""The five papers behind manyview: their tables, run again, and the methods of others they compare with.

``catalog`` lists the papers. A file for each (``rmkmc``, ``ghf_art``, ``aplsa``, ``hml_rf``, ``cca_ahkmc``)
describes its tables as data (``tables``): rows that run, the protocol in words; ``published`` has the printed figures.
``runner`` runs a table and keeps every finished cell, ``results`` sums up, ``sources`` finds the data, and ``rivals``
holds what others published.
"""
