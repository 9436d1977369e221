"""Strangers' files as pictures and clips: ``decode`` has ``_opening`` open them, in children that may die of it."""
