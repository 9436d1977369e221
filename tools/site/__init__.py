"""The documentation as a static site: ``make docs`` writes ``site/``, which needs no server and no network.

``sections`` is the table of contents; ``staging`` copies the Markdown of the repository, its links bent; ``cells`` runs
examples and notebooks; ``examples``, ``reference`` and ``benchmarks`` write pages of their own; Sphinx renders them
all (``conf``), and ``checks`` reads what was built.
"""
