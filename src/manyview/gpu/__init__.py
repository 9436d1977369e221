"""The steps of some methods on a graphics processor, by torch and Triton: the extra ``gpu``.

Everything here knows arrays and no method. ``device`` opens the device and copies rows to it, ``pieces`` orders rows
by cluster so that sums need no atomics, ``nearest`` and ``cheapest`` propose labels with a bound on what rounding can
hide, ``sums`` adds up differences in float64, ``topics`` and ``moments`` are the sweeps of PLSA and CCA, ``neighbours``
proposes nearest rows for ``data.nearest``. Files that begin with an underscore hold Triton kernels and are imported
inside calls.
"""
