"""What operators see of running processes: metrics and distributed traces."""
