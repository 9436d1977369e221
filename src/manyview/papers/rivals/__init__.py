"""What others published, as far as it can be stated: to compare with, not among the methods."""
