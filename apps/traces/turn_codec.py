"""Turns as columns of the database and back: each field of a turn is the column of its name."""

from dataclasses import fields
from typing import Any

import msgspec

from apps.pipeline.core.enums import Role
from apps.pipeline.core.turn import SourceTurn
from apps.traces.models import Turn

TURN_COLUMNS = tuple(each.name for each in fields(SourceTurn))


def select_turn(**instead: str) -> str:
    """Return what a statement selects of a turn; `instead` gives expressions for some columns."""
    return ", ".join(instead.get(name, name) for name in TURN_COLUMNS)


def turn_columns(turn: SourceTurn) -> dict[str, Any]:
    """Return the columns of a turn as values of JSON."""
    columns: dict[str, Any] = msgspec.to_builtins(turn)
    return columns


def source_turn(row: Turn) -> SourceTurn:
    """Return a stored turn as the pipeline sees it."""
    values = {name: getattr(row, name) for name in TURN_COLUMNS}
    return SourceTurn(**{**values, "role": Role(row.role)})
