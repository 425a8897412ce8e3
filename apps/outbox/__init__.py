"""The transactional outbox: pending work and the leases under which workers do it."""
