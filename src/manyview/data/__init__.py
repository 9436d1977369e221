"""What methods work on: plain containers in memory, and the few laws that every room needs of them."""
