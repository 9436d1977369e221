"""PLSA, alone and with other people's annotations.

``plsa`` checks counts by ``_counts`` and runs ``_em``, whose loops are in ``_kernels``; ``annotated_plsa`` runs it on
annotations too; ``annotations`` makes the matrix of another collection's tags.
"""
