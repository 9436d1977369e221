"""A collection on disk: items, tags, views, runs and history in one folder, and nothing else."""
