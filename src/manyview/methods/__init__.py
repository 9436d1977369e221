"""One method per file, its compiled loops beside it."""
