"""What methods work on: plain containers in memory, no algorithms."""
