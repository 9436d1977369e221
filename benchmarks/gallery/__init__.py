"""How quick the gallery is on a large collection."""
