"""Replay: how what a trace would write now differs from what it wrote, and what finding that out costs."""
