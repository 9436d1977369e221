"""A clustering as one static page: no script, no outside request."""
