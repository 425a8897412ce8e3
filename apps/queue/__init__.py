"""What waits, runs and failed, and how it is retried."""
