"""Counts that a page shows in tiles."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CountTile:
    """One count with its name."""

    label: str
    count: int
