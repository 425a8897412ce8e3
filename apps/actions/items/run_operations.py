"""Carry out operations on items, in one transaction: reads first, then writes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction

from apps.actions.get_or_create import open_end_user
from apps.actions.items.redacted_items import redacted
from apps.actions.items.write_items import clear_items, delete_item, pop_item, put_item
from apps.actions.ledger.record import record
from apps.items.operations import (
    ClearItems,
    DeleteItem,
    GetItem,
    ItemOperation,
    ItemOutcome,
    ItemRecord,
    ListNamespaces,
    PopItem,
    PutItem,
    ReadOperation,
    SearchItems,
    WriteOperation,
)
from apps.items.reading import read_item, read_items, read_namespaces, refresh
from apps.pipeline.core.identifiers import end_user_id, new_id
from apps.tenants.models import EndUser
from apps.traces.policies import active_policy

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
