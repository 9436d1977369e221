"""What a cluster costs beyond the work itself, k-means beside dask-ml's, and rows that lie in files."""
