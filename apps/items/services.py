"""Write and read items of agents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.common.errors import Conflict
from apps.items.models import StoredItem
from apps.items.operations import (
    ClearItems,
    DeleteItem,
    GetItem,
    ItemOperation,
    ItemOutcome,
    ItemRecord,
    ListNamespaces,
    Namespace,
    PopItem,
    PutItem,
    ReadOperation,
    SearchItems,
    WriteOperation,
)
from apps.items.reading import items_below, read_item, read_items, read_namespaces, read_newest, refresh
from apps.memories.ledger.record import record
from apps.pipeline.core.identifiers import end_user_id, new_id
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.redact import redact, redact_json
from apps.tenants.models import EndUser
from apps.traces.get_or_create import open_end_user
from apps.traces.policies import active_policy


def redacted(operations: Sequence[ItemOperation], *, policy: RedactionPolicy) -> Sequence[ItemOperation]:
    """Return the operations with redacted values and words, unless the policy leaves items as they are."""
    if not policy.items:
        return operations
    return [_redacted(each, policy) if isinstance(each, PutItem) else each for each in operations]


def _redacted(put: PutItem, policy: RedactionPolicy) -> PutItem:
    """Return what is stored; the words are redacted by themselves, as a caller may give others than the value's."""
    value = redact_json(put.value, policy=policy)
    return replace(put, value=value, words=redact(put.words, policy=policy).text)


_READS = (GetItem, SearchItems, ListNamespaces)


def run_item_operations(*, project_id: UUID, operations: Sequence[ItemOperation]) -> list[ItemOutcome]:
    """Return what came of each operation; all of them are carried out, or none.

    Reads see the items from before the writes. Values are redacted as the project's policy says, and the ledger records
    how many items were stored and deleted. Raises Conflict for an unexpected version, and while an end user of the
    operations is being erased; Unfit for a filter with a bad operator.
    """
    if any(isinstance(each, PutItem) for each in operations):
        operations = redacted(operations, policy=active_policy(project_id=project_id).redaction)
    outcomes: list[ItemOutcome] = [ItemOutcome()] * len(operations)
    with transaction.atomic():
        owners = _owners(project_id, operations)
        for place, operation in enumerate(operations):
            if isinstance(operation, _READS):
                outcomes[place] = _read(project_id, operation)
        for write in _in_lock_order(operations):
            outcomes[write.place] = _write(project_id, write, owners)
        _record(project_id, operations, outcomes, owners)
    return outcomes


def _record(
    project_id: UUID, operations: Sequence[ItemOperation], outcomes: Sequence[ItemOutcome], owners: dict[str, EndUser]
) -> None:
    """Add one entry to the ledger for a request that has changed items, under the end user if they are of one alone."""
    stored = sum(isinstance(each, PutItem) for each in operations)
    deleted = sum(each.deleted or 0 for each in outcomes)
    if not stored and not deleted:
        return
    belongs_to_one = len(owners) == 1 and all(each.user_id for each in operations if isinstance(each, PutItem))
    record(
        project_id=project_id,
        end_user_id=next(iter(owners.values())).pk if belongs_to_one else None,
        verb="items_changed",
        object_kind="project",
        object_id=project_id,
        details={"stored": stored, "deleted": deleted},
    )


@dataclass(frozen=True, slots=True)
class _Write:
    """An operation that writes, its place in the request, and the identifier of a new item."""

    place: int
    operation: WriteOperation
    item_id: UUID


def _in_lock_order(operations: Sequence[ItemOperation]) -> list[_Write]:
    """Return what is written in one order of keys, so that two requests don't wait for each other.

    Identifiers keep the order of the request, and so do several writes of one key. What deletes by namespace is not
    moved past other operations.
    """
    writes = [_Write(place, each, new_id()) for place, each in enumerate(operations) if not isinstance(each, _READS)]
    if all(isinstance(each.operation, PutItem | DeleteItem) for each in writes):
        # The condition above is not followed into the lambda.
        writes.sort(key=lambda each: (each.operation.namespace, each.operation.key))  # type: ignore[union-attr]
    return writes


def _read(project_id: UUID, operation: ReadOperation) -> ItemOutcome:
    if isinstance(operation, ListNamespaces):
        return ItemOutcome(namespaces=read_namespaces(project_id=project_id, wanted=operation))
    if isinstance(operation, SearchItems):
        found = read_items(project_id=project_id, wanted=operation)
    else:
        item = read_item(project_id=project_id, namespace=operation.namespace, key=operation.key)
        found = [item] if item else []
    if operation.refresh_ttl:
        refresh([item_id for item_id, item in found if item.expires_at is not None])
    items = tuple(item for _, item in found)
    return ItemOutcome(items=items) if isinstance(operation, SearchItems) else ItemOutcome(item=_only(items))


def _only(items: Sequence[ItemRecord]) -> ItemRecord | None:
    return items[0] if items else None


def _owners(project_id: UUID, operations: Sequence[ItemOperation]) -> dict[str, EndUser]:
    """Create and lock the end users whose items are put, in one order, so that no two requests wait for each other."""
    named = {each.user_id for each in operations if isinstance(each, PutItem) and each.user_id is not None}
    ordered = sorted(named, key=lambda user_id: end_user_id(project_id=project_id, user_id=user_id))
    return {user_id: open_end_user(project_id=project_id, user_id=user_id) for user_id in ordered}


def _write(project_id: UUID, write: _Write, owners: dict[str, EndUser]) -> ItemOutcome:
    operation = write.operation
    if isinstance(operation, PutItem):
        owner = None if operation.user_id is None else owners[operation.user_id]
        stored = put_item(project_id=project_id, item_id=write.item_id, put=operation, owner=owner)
        return ItemOutcome(item=replace(stored, user_id=operation.user_id))
    if isinstance(operation, PopItem):
        item = pop_item(project_id=project_id, namespace=operation.namespace)
        return ItemOutcome(item=item, deleted=int(item is not None))
    if isinstance(operation, DeleteItem):
        return ItemOutcome(deleted=delete_item(project_id=project_id, namespace=operation.namespace, key=operation.key))
    if isinstance(operation, ClearItems):
        return ItemOutcome(deleted=clear_items(project_id=project_id, prefix=operation.namespace_prefix))
    raise TypeError(operation)


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
