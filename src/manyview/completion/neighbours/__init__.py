"""Who is near whom, and what follows for what may be promised."""
