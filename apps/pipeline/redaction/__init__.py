"""Redaction: secrets and personal numbers are replaced by typed placeholders before a text is stored or shown."""
