"""Looks and tags in one correlated space.

``cross_modal`` smooths tags by ``association_network``, fuses by ``canonical_fusion`` (``_moments``, then ``_solve``)
and clusters with the k-means family.
"""
