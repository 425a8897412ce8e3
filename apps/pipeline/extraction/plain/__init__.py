"""The extractor that works without a language model: a small table of plain statements, and notes.

A note quotes what the user said; a linear model, the gate, decides which messages are worth one.
"""
