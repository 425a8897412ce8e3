"""Provenance: which words of a turn are its speaker's own, and which come from other people or sources."""
