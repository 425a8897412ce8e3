"""Turns from the database: each field of a turn is the column of its name."""

from dataclasses import fields

from apps.pipeline.core.enums import Role
from apps.pipeline.core.turn import SourceTurn
from apps.traces.models import Turn

TURN_COLUMNS = tuple(each.name for each in fields(SourceTurn))


def source_turn(row: Turn) -> SourceTurn:
    """Return a stored turn as the pipeline sees it."""
    values = {name: getattr(row, name) for name in TURN_COLUMNS}
    return SourceTurn(**{**values, "role": Role(row.role)})
