"""From items to views: what a picture looks like, as numbers."""
