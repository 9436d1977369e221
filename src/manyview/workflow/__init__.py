"""The verbs on a collection, and what they say about clusters: names, profiles, reasons."""
