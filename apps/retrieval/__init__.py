"""Search and context block of one end user."""
