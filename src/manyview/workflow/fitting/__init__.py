"""The views and the model of a fit, and what is kept of one that was stopped."""
