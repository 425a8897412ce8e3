"""The typed rows, one module a room of life; every expression is read against a third-person phrase."""
