"""Plain k-means for other methods: rows in memory, one start, no estimator around it."""
