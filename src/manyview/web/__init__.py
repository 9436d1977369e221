"""The gallery: a server on the person's own machine, and the same pages as plain files."""
