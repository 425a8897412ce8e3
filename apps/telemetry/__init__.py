"""What operators see of running processes: the request at hand, metrics and distributed traces."""
