"""Read rows for an answer that is sent in pieces, after the view and its scope have ended."""

from collections.abc import Iterator
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import QuerySet

from apps.tenants.scope import tenant_scope

_Row = TypeVar("_Row")
AT_ONCE = 500  # rows per query; no connection is held while the caller sends them


def streamed_rows(rows: QuerySet[Any, _Row], *, project_id: UUID, end_user_id: UUID | None = None) -> Iterator[_Row]:
    """Yield rows of a project or one of its end users in their order, each query in a scope of its own.

    What is written meanwhile may be missing. Related rows have to be selected with the rows.
    """
    with tenant_scope(project_id=project_id, end_user_id=end_user_id):
        keys = list(rows.values_list("pk", flat=True))
    for first in range(0, len(keys), AT_ONCE):
        with tenant_scope(project_id=project_id, end_user_id=end_user_id):
            some = list(rows.filter(pk__in=keys[first : first + AT_ONCE]))
        yield from some
