"""Looking at pictures and clips: ``here`` with children of this process, ``elsewhere`` by workers of a cluster."""
