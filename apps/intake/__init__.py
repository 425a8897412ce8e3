"""Turns and sessions are accepted, imports are run."""
