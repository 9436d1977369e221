"""What keeps a collection whole: one writer, answers in a second place, checks, and repair after a crash."""
