"""Insert rows of models by statements that are compiled once; the connection keeps their cursors.

A turn that states something new inserts one memory, one origin and perhaps one entity. Compiling each insert anew took
as long as sending it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from typing import Any

from django.db import connection
from django.db.models import Field, Model

from apps.tenants.constant_statements import run_constant

FEW = 4  # rows that are inserted one by one; more of them are one statement, which Django compiles


@dataclass(frozen=True, slots=True)
class OnConflict:
    """What an insert updates, by names of fields, where a row with the same unique fields exists."""

    unique: tuple[str, ...]
    update: tuple[str, ...]


def insert_rows(model: type[Model], rows: Iterable[Any], *, on_conflict: OnConflict | None = None) -> None:
    """Insert unsaved rows of a model; each has a value for every column that the database does not compute."""
    remaining = iter(rows)
    first = list(islice(remaining, FEW + 1))
    if len(first) > FEW:
        _insert_many(model, chain(first, remaining), on_conflict)
        return
    for row in first:
        values = [each.get_db_prep_save(each.pre_save(row, True), connection) for each in _fields(model)]
        run_constant(_statement(model, on_conflict), values)


def _insert_many(model: type[Model], rows: Iterable[Any], on_conflict: OnConflict | None) -> None:
    if on_conflict is None:
        model._default_manager.bulk_create(rows)
        return
    model._default_manager.bulk_create(
        rows, update_conflicts=True, unique_fields=on_conflict.unique, update_fields=on_conflict.update
    )


@cache
def _fields(model: type[Model]) -> tuple["Field[Any, Any]", ...]:
    return tuple(each for each in model._meta.concrete_fields if not each.generated)


@cache
def _statement(model: type[Model], on_conflict: OnConflict | None) -> str:
    fields, table = _fields(model), connection.ops.quote_name(model._meta.db_table)
    columns = ", ".join(f'"{each.column}"' for each in fields)
    values = ", ".join(map(_placeholder, fields))
    insert = f"insert into {table} ({columns}) values ({values})"  # noqa: S608  (names only)
    if on_conflict is None:
        return insert
    unique = ", ".join(f'"{_column(model, name)}"' for name in on_conflict.unique)
    update = ", ".join(
        f'"{column}" = excluded."{column}"' for column in (_column(model, n) for n in on_conflict.update)
    )
    return f"{insert} on conflict ({unique}) do update set {update}"


def _placeholder(field: "Field[Any, Any]") -> str:
    """Return the one that Django uses: its cast of an array cuts texts that are longer than the column allows.

    PostgreSQL's fields choose it by their type alone, whatever the value.
    """
    chosen = getattr(field, "get_placeholder", None)
    return str(chosen(None, None, connection)) if chosen else "%s"


def _column(model: type[Model], name: str) -> str:
    return next(str(each.column) for each in _fields(model) if each.name == name)
