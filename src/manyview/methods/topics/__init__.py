"""PLSA, alone and with other people's annotations.

``plsa`` checks counts by ``_counts`` and runs ``_em``, whose loops are in ``_kernels``; ``annotations`` makes the
matrix of another collection's tags.
"""
