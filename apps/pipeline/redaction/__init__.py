"""Redaction: replaces secrets and personal numbers by typed placeholders before a text is stored or shown."""
