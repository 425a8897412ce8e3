"""Erasure, retention, export of one end user, redaction of what is stored."""
