"""Tasks of the k-means family in the form that ``engines.device`` runs, made of the steps in ``gpu``."""
