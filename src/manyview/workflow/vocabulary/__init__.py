"""The words of a collection: what there is, which may be one, and a person's care for them."""
