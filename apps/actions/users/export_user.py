"""Export an end user: every row about the user, as lines of JSON."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction
from django.db.models import QuerySet

from apps.actions.errors import NotFound
from apps.actions.ledger.record import record
from apps.actions.users.user_data import USER_TABLES, UserTable
from apps.pipeline.core import identifiers
from apps.tenants.models import EndUser
from apps.tenants.scope import tenant_scope

END = "end"  # the kind of the last line
AT_ONCE = 500  # rows per query; no connection is held while the caller reads them


def export_user(*, project_id: UUID, user_id: str) -> Iterator[bytes]:
    """Yield one line per row, first the end user's own, then one of the kind `end`. Raises NotFound before the first.

    `kind` names the table; a column of this name is `row_kind`. Vectors and other values that are computed from these
    are left out. What is written while the export runs may be missing; a file without the last line is not complete.
    """
    derived = identifiers.end_user_id(project_id=project_id, user_id=user_id)
    with tenant_scope(project_id=project_id, end_user_id=derived), transaction.atomic():
        user = EndUser.objects.for_project(project_id).present().filter(id=derived).first()
        if user is None:
            raise NotFound("there is no such end user")
        record(project_id=project_id, end_user_id=user.id, verb="exported", object_kind="end_user", object_id=user.id)
    return _lines(user)


def _lines(user: EndUser) -> Iterator[bytes]:
    yield _line("end_user", {"id": user.id, "user_id": user.external_id, "created_at": user.created_at})
    for table in USER_TABLES:
        if table.is_exported:
            yield from _rows(table, user)
    yield _line(END, {})


def _rows(table: UserTable, user: EndUser) -> Iterator[bytes]:
    rows = table.model._default_manager.filter(end_user_id=user.id).order_by()
    keys = sorted(_read(user, rows.values_list("pk", flat=True)))
    for first in range(0, len(keys), AT_ONCE):
        some = keys[first : first + AT_ONCE]
        for row in _read(user, rows.filter(pk__in=some).order_by("pk").values(*table.columns)):
            yield _line(table.name, row)


def _read(user: EndUser, rows: QuerySet[Any, Any]) -> list[Any]:
    """Read rows in a scope of their own: the view has returned when they are sent."""
    with tenant_scope(project_id=user.project_id, end_user_id=user.id):
        return list(rows)


def _line(kind: str, values: dict[str, Any]) -> bytes:
    named = {"row_kind" if name == "kind" else name: value for name, value in values.items()}
    return msgspec.json.encode({"kind": kind, **named}) + b"\n"
