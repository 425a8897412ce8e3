"""Statements over items. All of them name the project; an item that has expired is read by none."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from apps.items.filter_sql import filter_conditions
from apps.items.operations import ANY_LABEL, ItemOrder, ItemRecord, ListNamespaces, Namespace, SearchItems
from apps.pipeline.core.identifiers import end_user_id

# Any word of the query counts; the rank is below 1. Without a word in common it is null.
_SCORE = """nullif(ts_rank(item.terms, replace(plainto_tsquery('english', %s)::text, '&', '|')::tsquery, 32), 0)"""
_COLUMNS = """item.id, item.namespace, item.key, item.value, item.version, item.created_at, item.updated_at,
    item.expires_at, item.end_user_id, nullif(item.session_id, '')"""
_READ = """
select {columns}, {score} as score from items_storeditem item
where item.project_id = %s and (expires_at is null or expires_at > now()) {conditions}
order by {order} limit %s offset %s
"""
# Not joined: where tables are split over several servers, the users of items are on others.
_OWNERS = "select id, external_id from tenants_enduser where id = any(%s)"
_OWNER = 8  # place of the end user in _COLUMNS
_ORDERS = {
    ItemOrder.OLDEST: "item.id",
    ItemOrder.NEWEST: "item.id desc",
    ItemOrder.UPDATED: "item.updated_at desc, item.id desc",
}
_REFRESH = """
update items_storeditem set expires_at = now() + ttl_minutes * interval '1 minute'
where id = any(%s) and ttl_minutes is not null
"""
_NAMESPACES = """
select distinct {label} as found from items_storeditem item
where project_id = %s and (expires_at is null or expires_at > now()) {conditions}
order by found limit %s offset %s
"""


@dataclass(slots=True)
class Conditions:
    """Conditions of a statement with their parameters, joined by `and`."""

    texts: list[str] = field(default_factory=list)
    parameters: list[Any] = field(default_factory=list)

    def add(self, text: str, *parameters: Any) -> None:
        """Add a condition."""
        self.texts.append(text)
        self.parameters.extend(parameters)

    def below(self, prefix: Namespace) -> None:
        """Add that the namespace begins with a prefix: a range of the index, as no label holds a control character."""
        if prefix:
            after = [*prefix[:-1], f"{prefix[-1]}\x01"]
            self.add("namespace >= %s::varchar[] and namespace < %s::varchar[]", list(prefix), after)

    @property
    def sql(self) -> str:
        """Return the conditions behind others."""
        return "".join(f" and ({text})" for text in self.texts)


def read_items(*, project_id: UUID, wanted: SearchItems) -> list[tuple[UUID, ItemRecord]]:
    """Return found items with their identifiers. Raises BadInput for a filter with a bad operator."""
    conditions = Conditions()
    conditions.below(wanted.namespace_prefix)
    if wanted.user_id is not None:
        conditions.add("end_user_id = %s", end_user_id(project_id=project_id, user_id=wanted.user_id))
    for text, parameters in filter_conditions(wanted.filter, at="/filter"):
        conditions.add(text, *parameters)
    return _read(project_id, conditions, wanted)


def read_item(*, project_id: UUID, namespace: Namespace, key: str) -> tuple[UUID, ItemRecord] | None:
    """Return the item of a key with its identifier."""
    conditions = Conditions()
    conditions.add("namespace = %s::varchar[] and key = %s", list(namespace), key)
    return next(iter(_read(project_id, conditions, SearchItems(limit=1))), None)


def read_newest(*, project_id: UUID, namespace: Namespace) -> tuple[UUID, ItemRecord] | None:
    """Return the newest item of just this namespace with its identifier."""
    conditions = Conditions()
    conditions.add("namespace = %s::varchar[]", list(namespace))
    return next(iter(_read(project_id, conditions, SearchItems(limit=1, order=ItemOrder.NEWEST))), None)


def _read(project_id: UUID, conditions: Conditions, wanted: SearchItems) -> list[tuple[UUID, ItemRecord]]:
    order = _ORDERS[wanted.order]
    statement = _READ.format(
        columns=_COLUMNS,
        score=_SCORE if wanted.query else "null",
        conditions=conditions.sql,
        order=f"score desc nulls last, {order}" if wanted.query else order,
    )
    query = [wanted.query] if wanted.query else []
    rows = _rows(statement, [*query, project_id, *conditions.parameters, wanted.limit, wanted.offset])
    owners = {row[_OWNER] for row in rows} - {None}
    names = dict(_rows(_OWNERS, [list(owners)])) if owners else {}
    return [(row[0], _record(row, names.get(row[_OWNER]))) for row in rows]


def _record(row: Sequence[Any], user_id: str | None) -> ItemRecord:
    _, namespace, key, value, version, created_at, updated_at, expires_at, _, session_id, score = row
    return ItemRecord(
        namespace=tuple(namespace),
        key=key,
        value=json.loads(value),
        version=version,
        created_at=created_at,
        updated_at=updated_at,
        expires_at=expires_at,
        user_id=user_id,
        session_id=session_id,
        score=score,
    )


def refresh(item_ids: Sequence[UUID]) -> None:
    """Let items that expire live for their time again."""
    if item_ids:
        with connection.cursor() as cursor:
            cursor.execute(_REFRESH, [list(item_ids)])


def read_namespaces(*, project_id: UUID, wanted: ListNamespaces) -> tuple[Namespace, ...]:
    """Return namespaces with items, sorted."""
    conditions = Conditions()
    if wanted.prefix or wanted.suffix:
        conditions.add("cardinality(namespace) >= %s", max(len(wanted.prefix), len(wanted.suffix)))
    for place, label in enumerate(wanted.prefix, start=1):
        if label != ANY_LABEL:
            conditions.add("namespace[%s] = %s", place, label)
    for back, label in enumerate(reversed(wanted.suffix)):
        if label != ANY_LABEL:
            conditions.add("namespace[cardinality(namespace) - %s] = %s", back, label)
    label = "namespace" if wanted.max_depth is None else "namespace[1:%s]"
    depth = [] if wanted.max_depth is None else [wanted.max_depth]
    statement = _NAMESPACES.format(label=label, conditions=conditions.sql)
    rows = _rows(statement, [*depth, project_id, *conditions.parameters, wanted.limit, wanted.offset])
    return tuple(tuple(found) for (found,) in rows)


def _rows(statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall()
