"""Where the work of a fit is done: on one thread, on several, on the workers of a Dask cluster.

``on`` (public as ``manyview.on``) chooses; ``working`` gives a method the engine that holds for it; ``base`` says what
an engine is, ``local`` is this process, ``cluster`` is Dask.
"""
