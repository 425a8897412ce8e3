"""Vectors as the database takes them."""

from collections.abc import Iterable


def as_text(vector: Iterable[float]) -> str:
    """Write a vector as pgvector reads it; six digits are more than a halfvec keeps."""
    return "[" + ",".join(f"{value:.6g}" for value in vector) + "]"
