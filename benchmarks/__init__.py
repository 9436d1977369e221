"""Timings of manyview beside the packages people would otherwise use. See README.md."""
