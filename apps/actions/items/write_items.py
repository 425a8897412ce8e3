"""Write single items; run_operations.py has the transaction."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.actions.errors import Conflict
from apps.items.models import StoredItem
from apps.items.operations import ItemRecord, Namespace, PutItem
from apps.items.reading import items_below, read_newest
from apps.tenants.models import EndUser


def put_item(*, project_id: UUID, item_id: UUID, put: PutItem, owner: EndUser | None) -> ItemRecord:
    """Store an item; `item_id` is that of a new one. Raises Conflict if the key does not have the expected version."""
    now, name = timezone.now(), "/".join((*put.namespace, put.key))
    of_key = _items(project_id).filter(namespace=list(put.namespace), key=put.key)
    of_key.filter(expires_at__lte=now).delete()
    expires_at = None if put.ttl_minutes is None else now + timedelta(minutes=put.ttl_minutes)
    values: dict[str, Any] = {
        "end_user": owner,
        "session_id": put.session_id,
        "value": put.value,
        "words": put.words,
        "ttl_minutes": put.ttl_minutes,
        "expires_at": expires_at,
        "updated_at": now,
    }
    if not put.expected_version:  # of several writers of a new key, the others find the row of the first
        new = StoredItem(
            id=item_id,
            project_id=project_id,
            namespace=list(put.namespace),
            key=put.key,
            created_at=now,
            **values,
        )
        StoredItem.objects.bulk_create([new], ignore_conflicts=True)
    item = of_key.defer("terms").select_for_update().first()
    if item is None and put.expected_version:
        raise Conflict(f"there is no item {name}")
    if item is None:  # it was deleted meanwhile
        return put_item(project_id=project_id, item_id=item_id, put=put, owner=owner)
    if item.id != item_id:
        if put.expected_version not in (None, item.version):
            raise Conflict(f"the item {name} has changed, or exists already")
        for column, value in (values | {"version": item.version + 1}).items():
            setattr(item, column, value)
        item.save(update_fields=[*values, "version"])
    return ItemRecord(
        namespace=put.namespace,
        key=put.key,
        value=dict(put.value),
        version=item.version,
        created_at=item.created_at,
        updated_at=now,
        expires_at=expires_at,
        session_id=put.session_id or None,
    )


def delete_item(*, project_id: UUID, namespace: Namespace, key: str) -> int:
    """Delete the item of a key; return how many there were."""
    return _deleted(_items(project_id).filter(namespace=list(namespace), key=key))


def clear_items(*, project_id: UUID, prefix: Namespace) -> int:
    """Delete all items below a namespace; return how many there were."""
    return items_below(project_id, prefix).delete()[0]


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
