"""Carry out operations on items, in one transaction: reads first, then writes."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.db import transaction

from apps.actions.get_or_create import open_end_user
from apps.actions.items.write_items import clear_items, delete_item, pop_item, put_item
from apps.items.item_sql import read_item, read_items, read_namespaces, refresh
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
from apps.tenants.models import EndUser

_READS = (GetItem, SearchItems, ListNamespaces)


def run_item_operations(*, project_id: UUID, operations: Sequence[ItemOperation]) -> list[ItemOutcome]:
    """Return what came of each operation; all of them are carried out, or none.

    Reads see the items from before the writes. Raises Conflict for an unexpected version, and while an end user of the
    operations is being erased; Unfit for a filter with a bad operator.
    """
    outcomes: list[ItemOutcome] = [ItemOutcome()] * len(operations)
    with transaction.atomic():
        for place, operation in enumerate(operations):
            if isinstance(operation, _READS):
                outcomes[place] = _read(project_id, operation)
        owners = _owners(project_id, operations)
        for place, operation in enumerate(operations):
            if not isinstance(operation, _READS):
                outcomes[place] = _write(project_id, operation, owners)
    return outcomes


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
    named = sorted({each.user_id for each in operations if isinstance(each, PutItem) and each.user_id is not None})
    return {user_id: open_end_user(project_id=project_id, user_id=user_id) for user_id in named}


def _write(project_id: UUID, operation: WriteOperation, owners: dict[str, EndUser]) -> ItemOutcome:
    if isinstance(operation, PutItem):
        owner = None if operation.user_id is None else owners[operation.user_id]
        stored = put_item(project_id=project_id, put=operation, owner=owner)
        return ItemOutcome(item=replace(stored, user_id=operation.user_id))
    if isinstance(operation, PopItem):
        item = pop_item(project_id=project_id, namespace=operation.namespace)
        return ItemOutcome(item=item, deleted=int(item is not None))
    if isinstance(operation, DeleteItem):
        return ItemOutcome(deleted=delete_item(project_id=project_id, namespace=operation.namespace, key=operation.key))
    if isinstance(operation, ClearItems):
        return ItemOutcome(deleted=clear_items(project_id=project_id, prefix=operation.namespace_prefix))
    raise TypeError(operation)
