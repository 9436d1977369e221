"""The papers' experiments: what others published and we only compare with. Nothing that users call needs this room."""
