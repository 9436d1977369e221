"""The catalogue's tables as SQL, one file for each format: what turns the format before it into this one.

A file here is never edited once it is released; a change of the tables is the next file, named in ``MIGRATIONS`` of
``collection/layout.py``.
"""
