"""Write single items; run_operations.py has the transaction."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.actions.errors import Conflict
from apps.items.item_sql import Conditions, read_newest
from apps.items.models import StoredItem
from apps.items.operations import ItemRecord, Namespace, PutItem
from apps.tenants.models import EndUser

# The lock of a row that is there, or the unique constraint, decides between two writers of one key.
_PUT = """
insert into items_storeditem as item
    (id, project_id, end_user_id, session_id, namespace, key, value, words, ttl_minutes, expires_at, version,
    created_at, updated_at)
values (%(id)s, %(project)s, %(owner)s, %(session)s, %(namespace)s::varchar[], %(key)s, %(value)s::jsonb, %(words)s,
    %(ttl)s, %(expires)s, 1, %(now)s, %(now)s)
on conflict (project_id, namespace, key) do update set end_user_id = excluded.end_user_id,
    session_id = excluded.session_id, value = excluded.value,
    words = excluded.words, ttl_minutes = excluded.ttl_minutes, expires_at = excluded.expires_at,
    updated_at = excluded.updated_at, version = item.version + 1
where %(expected)s::int is null or item.version = %(expected)s
returning version, created_at
"""


def put_item(*, project_id: UUID, item_id: UUID, put: PutItem, owner: EndUser | None) -> ItemRecord:
    """Store an item; `item_id` is that of a new one. Raises Conflict if the key does not have the expected version."""
    now = timezone.now()
    of_key = _items(project_id).filter(namespace=list(put.namespace), key=put.key)
    of_key.filter(expires_at__lte=now).delete()
    if put.expected_version and not of_key.exists():
        raise Conflict(f"there is no item {'/'.join((*put.namespace, put.key))}")
    expires_at = None if put.ttl_minutes is None else now + timedelta(minutes=put.ttl_minutes)
    values = {
        "id": item_id,
        "project": project_id,
        "owner": owner and owner.pk,
        "session": put.session_id,
        "namespace": list(put.namespace),
        "key": put.key,
        "value": json.dumps(put.value),
        "words": put.words,
        "ttl": put.ttl_minutes,
        "expires": expires_at,
        "expected": put.expected_version,
        "now": now,
    }
    version, created_at = _stored(values, put)
    return ItemRecord(
        namespace=put.namespace,
        key=put.key,
        value=dict(put.value),
        version=version,
        created_at=created_at,
        updated_at=now,
        expires_at=expires_at,
        session_id=put.session_id or None,
    )


def _stored(values: Mapping[str, Any], put: PutItem) -> tuple[int, Any]:
    with connection.cursor() as cursor:
        cursor.execute(_PUT, values)
        row = cursor.fetchone()
    if row is None:
        raise Conflict(f"the item {'/'.join((*put.namespace, put.key))} has changed, or exists already")
    return row


def delete_item(*, project_id: UUID, namespace: Namespace, key: str) -> int:
    """Delete the item of a key; return how many there were."""
    return _deleted(_items(project_id).filter(namespace=list(namespace), key=key))


def clear_items(*, project_id: UUID, prefix: Namespace) -> int:
    """Delete all items below a namespace; return how many there were."""
    conditions = Conditions()
    conditions.below(prefix)
    with connection.cursor() as cursor:
        statement = f"delete from items_storeditem item where project_id = %s{conditions.sql}"  # noqa: S608
        cursor.execute(statement, [project_id, *conditions.parameters])
        return int(cursor.rowcount)


def pop_item(*, project_id: UUID, namespace: Namespace) -> ItemRecord | None:
    """Delete the newest item of a namespace and return it. Of several callers at once, each gets another one."""
    while (newest := read_newest(project_id=project_id, namespace=namespace)) is not None:
        item_id, item = newest
        if _deleted(_items(project_id).filter(id=item_id)):
            return item
    return None


def _items(project_id: UUID) -> QuerySet[StoredItem]:
    return StoredItem.objects.filter(project_id=project_id)


def _deleted(items: QuerySet[StoredItem]) -> int:
    """Delete those that have not expired, and count them; expired ones are deleted by the schedule."""
    return items.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now())).delete()[0]
