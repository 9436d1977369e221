"""What files say of themselves, as views."""
