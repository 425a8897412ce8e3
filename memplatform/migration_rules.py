"""Rules for migrations that run beside a working service: no long locks, no rewritten tables, nothing mixed.

Judged without a database, from the operations and the state of the models before each.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.migrations import Migration, operations
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import CheckConstraint, UniqueConstraint

CONCURRENTLY = "build it with AddIndexConcurrently, in a migration with atomic = False"
VALIDATED_LATER = "add it without validation (AddConstraintNotValid), and validate it in the next migration"
IN_TWO_RELEASES = "the version that runs meanwhile still uses it: stop using it first, take it away one release later"
_DATA = re.compile(r"^\s*(insert into|update|delete from)\b", re.IGNORECASE | re.MULTILINE)
_BODY = re.compile(r"\$(\w*)\$.*?\$\1\$", re.DOTALL)  # of a function: it is not run
_SCHEMA = re.compile(r"\b(alter|drop) table\b", re.IGNORECASE)
_PLAIN_INDEX = re.compile(r"\bcreate (unique )?index (?!concurrently)", re.IGNORECASE)
_COMPATIBLE = re.compile(r"^(varchar|character varying|text|citext)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Violation:
    """What a migration does, and what to do instead."""

    rule: str
    what: str
    instead: str


def violations(migration: Migration, state: ProjectState) -> Iterator[Violation]:
    """Yield what breaks the rules, but for the rules in the migration's own `accepted` (rule -> reason)."""
    accepted: dict[str, str] = getattr(migration, "accepted", {})
    created: set[str] = set()
    for operation in migration.operations:
        if isinstance(operation, operations.CreateModel):
            created.add(operation.name_lower)
        elif getattr(operation, "model_name_lower", None) not in created:
            found = _of_operation(operation, migration.app_label, state)
            yield from (each for each in found if each.rule not in accepted)
        operation.state_forwards(migration.app_label, state)
    if "mixed" not in accepted and _changes_schema(migration) and _changes_data(migration):
        yield Violation("mixed", "changes schema and data", "make two migrations: the locks of one last for both")


def _of_operation(operation: Operation, app: str, state: ProjectState) -> Iterator[Violation]:
    match operation:
        case operations.AddConstraint():
            yield from _of_constraint(operation)
        case operations.AddField():
            yield from _of_new_field(operation)
        case operations.AlterField():
            yield from _of_changed_field(operation, app, state)
        case operations.RenameField() | operations.RenameModel() | operations.AlterModelTable():
            yield Violation("rename", operation.describe(), IN_TWO_RELEASES)
        case operations.RemoveField() | operations.DeleteModel():
            yield Violation("remove", operation.describe(), IN_TWO_RELEASES)
        case operations.AddIndex() | operations.RunSQL() if _builds_index(operation):
            yield Violation("index", "builds an index while writers wait", CONCURRENTLY)


def _builds_index(operation: Operation) -> bool:
    if isinstance(operation, operations.RunSQL):
        return bool(_PLAIN_INDEX.search(_sql(operation)))
    return type(operation) is operations.AddIndex  # those of a subclass are concurrent


def _of_constraint(operation: operations.AddConstraint) -> Iterator[Violation]:
    constraint = operation.constraint
    if isinstance(constraint, UniqueConstraint):
        instead = "build a unique index concurrently, and add the constraint using it"
        yield Violation("unique", f"builds the unique index {constraint.name} while writers wait", instead)
    if isinstance(constraint, CheckConstraint) and type(operation) is operations.AddConstraint:
        yield Violation("check", f"checks all rows for {constraint.name} under a lock", VALIDATED_LATER)


def _of_new_field(operation: operations.AddField) -> Iterator[Violation]:
    field: Any = operation.field
    if field.generated and field.db_persist:
        instead = "add a plain column, fill it in batches, and keep it by a trigger"
        yield Violation("rewrite", f"writes the table anew for {operation.name}", instead)
    if field.is_relation and field.db_index:
        yield Violation("index", f"builds the index of {operation.name} while writers wait", CONCURRENTLY)
    if not field.null and not field.has_default() and not field.has_db_default() and not field.generated:
        yield Violation("default", f"{operation.name} has no default, so no row can be added", "give it a db_default")
    if not field.null and field.has_default() and not field.has_db_default():
        instead = "give it a db_default: the version that runs meanwhile inserts rows without the column"
        yield Violation("default", f"{operation.name} has a default in Python alone", instead)


def _of_changed_field(operation: operations.AlterField, app: str, state: ProjectState) -> Iterator[Violation]:
    old: Any = state.models[app, operation.model_name_lower].fields[operation.name]
    new: Any = operation.field
    former, wanted = _types(old, new)
    if former != wanted and not _grows(old, new, former, wanted):
        instead = "add a column of the new type, fill it in batches, and switch one release later"
        yield Violation("rewrite", f"changes {operation.name} from {former} to {wanted}", instead)
    if old.null and not new.null:
        yield Violation("not null", f"checks all rows for {operation.name} under a lock", VALIDATED_LATER)


def _types(old: Any, new: Any) -> tuple[str, str]:
    """Return the types of both columns; of references, which have that of their target, the targets."""
    if old.is_relation and new.is_relation:
        return str(old.remote_field.model).lower(), str(new.remote_field.model).lower()
    return str(old.db_type(connection) or ""), str(new.db_type(connection) or "")


def _grows(old: Any, new: Any, former: str, wanted: str) -> bool:
    """Return True for a text that may be longer now: no row is read for that."""
    both = _COMPATIBLE.match(former) and _COMPATIBLE.match(wanted)
    return bool(both) and (new.max_length is None or (old.max_length or new.max_length + 1) <= new.max_length)


def _changes_data(migration: Migration) -> bool:
    return any(
        isinstance(each, operations.RunPython)
        or (isinstance(each, operations.RunSQL) and _DATA.search(_BODY.sub("", _sql(each))))
        for each in migration.operations
    )


def _changes_schema(migration: Migration) -> bool:
    return any(
        bool(_SCHEMA.search(_BODY.sub("", _sql(each))))
        if isinstance(each, operations.RunSQL)
        else each.reduces_to_sql and not isinstance(each, operations.RunPython)
        for each in migration.operations
    )


def _sql(operation: operations.RunSQL) -> str:
    given = operation.sql
    return given if isinstance(given, str) else "\n".join(str(each) for each in given)
