"""How good are the clusters? Tables on real collections, each made by one command."""
