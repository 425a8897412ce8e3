"""Write and read items of agents."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.common.errors import Conflict
from apps.items.models import StoredItem
from apps.items.operations import (
    ClearOperationBody,
    DeleteOperationBody,
    GetOperationBody,
    ItemBody,
    ItemOutcomeResponse,
    ItemRequest,
    ItemResponse,
    ItemSearchBody,
    NamespacesBody,
    PopOperationBody,
)
from apps.items.reading import item_response, items_below, read_item, read_items, read_namespaces, read_newest, refresh
from apps.memories.ledger.record import record
from apps.pipeline.core.identifiers import end_user_id, new_id
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.redact import redact, redact_json
from apps.tenants.models import EndUser
from apps.traces.get_or_create import open_end_user
from apps.traces.policies import active_policy

WORDS_CHARACTERS = 100_000


def is_read(operation: ItemRequest) -> bool:
    """Return True if an operation reads only."""
    return isinstance(operation, GetOperationBody | ItemSearchBody | NamespacesBody)


def run_item_operations(*, project_id: UUID, operations: Sequence[ItemRequest]) -> list[ItemOutcomeResponse]:
    """Return what came of each operation; all of them are carried out, or none.

    Reads see the items from before the writes. Values are redacted as the project's policy says, and the ledger records
    how many items were stored and deleted. Raises Conflict for an unexpected version, and while an end user of the
    operations is being erased; BadInput for a filter with a bad operator.
    """
    puts = [each for each in operations if isinstance(each, ItemBody)]
    policy = active_policy(project_id=project_id).redaction if puts else None
    outcomes = [ItemOutcomeResponse()] * len(operations)
    with transaction.atomic():
        owners = _owners(project_id, puts)
        for place, operation in enumerate(operations):
            if is_read(operation):
                outcomes[place] = _read(project_id, operation)
        for place, operation, item_id in _in_lock_order(operations):
            if isinstance(operation, ItemBody):
                stored = _put(project_id, item_id, operation, owners.get(operation.user_id or ""), policy)
                outcomes[place] = ItemOutcomeResponse(item=stored)
            else:
                outcomes[place] = _delete(project_id, operation)
        _record(project_id, puts, sum(each.deleted or 0 for each in outcomes), owners)
    return outcomes


def _owners(project_id: UUID, puts: Sequence[ItemBody]) -> dict[str, EndUser]:
    """Create and lock the end users whose items are put, in one order, so that no two requests wait for each other."""
    named = {each.user_id for each in puts if each.user_id is not None}
    ordered = sorted(named, key=lambda user_id: end_user_id(project_id=project_id, user_id=user_id))
    return {user_id: open_end_user(project_id=project_id, user_id=user_id) for user_id in ordered}


def _in_lock_order(operations: Sequence[ItemRequest]) -> list[tuple[int, ItemRequest, UUID]]:
    """Return what is written, with its place and the identifier of a new item, in one order of keys.

    So two requests don't wait for each other. Identifiers keep the order of the request, and so do several writes of
    one key. What deletes by namespace is not moved past other operations.
    """
    writes = [(place, each, new_id()) for place, each in enumerate(operations) if not is_read(each)]
    if all(isinstance(each, ItemBody | DeleteOperationBody) for _, each, _ in writes):
        # Both have a key; the condition is not followed into the lambda.
        writes.sort(key=lambda write: (write[1].namespace, write[1].key))  # type: ignore[attr-defined]
    return writes


def _read(project_id: UUID, operation: ItemRequest) -> ItemOutcomeResponse:
    if isinstance(operation, NamespacesBody):
        return ItemOutcomeResponse(namespaces=read_namespaces(project_id=project_id, wanted=operation))
    if isinstance(operation, ItemSearchBody):
        found = read_items(project_id=project_id, wanted=operation)
    elif isinstance(operation, GetOperationBody):
        item = read_item(project_id=project_id, namespace=operation.namespace, key=operation.key)
        found = [item] if item else []
    else:
        raise TypeError(operation)
    if operation.refresh_ttl:
        refresh([item_id for item_id, item in found if item.expires_at is not None])
    items = [item for _, item in found]
    if isinstance(operation, ItemSearchBody):
        return ItemOutcomeResponse(items=items)
    return ItemOutcomeResponse(item=items[0] if items else None)


def _delete(project_id: UUID, operation: ItemRequest) -> ItemOutcomeResponse:
    items = StoredItem.objects.filter(project_id=project_id)
    if isinstance(operation, DeleteOperationBody):
        return ItemOutcomeResponse(
            deleted=_deleted(items.filter(namespace=list(operation.namespace), key=operation.key))
        )
    if isinstance(operation, ClearOperationBody):
        return ItemOutcomeResponse(deleted=items_below(project_id, operation.namespace_prefix).delete()[0])
    if isinstance(operation, PopOperationBody):
        # Of several callers at once, each gets another item.
        while (newest := read_newest(project_id=project_id, namespace=operation.namespace)) is not None:
            if _deleted(items.filter(id=newest[0])):
                return ItemOutcomeResponse(item=newest[1], deleted=1)
        return ItemOutcomeResponse(deleted=0)
    raise TypeError(operation)


def _deleted(items: QuerySet[StoredItem]) -> int:
    """Delete those that have not expired, and count them; expired ones are deleted by the schedule."""
    return items.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now())).delete()[0]


def _put(
    project_id: UUID, item_id: UUID, put: ItemBody, owner: EndUser | None, policy: RedactionPolicy | None
) -> ItemResponse:
    """Store an item; `item_id` is that of a new one. Raises Conflict if the key does not have the expected version."""
    now, name = timezone.now(), "/".join((*put.namespace, put.key))
    of_key = StoredItem.objects.filter(project_id=project_id, namespace=list(put.namespace), key=put.key)
    of_key.filter(expires_at__lte=now).delete()
    value, words = put.value, (" ".join(_texts(put.value)) if put.text is None else put.text)[:WORDS_CHARACTERS]
    if policy is not None and policy.items:
        value, words = redact_json(value, policy=policy), redact(words, policy=policy).text
    values: dict[str, Any] = {
        "end_user": owner,
        "session_id": put.session_id or "",
        "value": value,
        "words": words,
        "ttl_minutes": put.ttl_minutes,
        "expires_at": None if put.ttl_minutes is None else now + timedelta(minutes=put.ttl_minutes),
        "updated_at": now,
    }
    if not put.expected_version:  # of several writers of a new key, the others find the row of the first
        place = {"project_id": project_id, "namespace": list(put.namespace), "key": put.key}
        StoredItem.objects.bulk_create(
            [StoredItem(id=item_id, created_at=now, **place, **values)], ignore_conflicts=True
        )
    item = of_key.defer("terms").select_for_update().first()
    if item is None and put.expected_version:
        raise Conflict(f"there is no item {name}")
    if item is None:  # it was deleted meanwhile
        return _put(project_id, item_id, put, owner, policy)
    if item.id != item_id:
        if put.expected_version not in (None, item.version):
            raise Conflict(f"the item {name} has changed, or exists already")
        for column, new in (values | {"version": item.version + 1}).items():
            setattr(item, column, new)
        item.save(update_fields=[*values, "version"])
    return item_response(item)


def _texts(value: Any) -> list[str]:
    """Return all texts within a value, whose nesting the parser has limited."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict | list):
        return [text for each in (value.values() if isinstance(value, dict) else value) for text in _texts(each)]
    return []


def _record(project_id: UUID, puts: Sequence[ItemBody], deleted: int, owners: dict[str, EndUser]) -> None:
    """Add one entry to the ledger for a request that has changed items, under the end user if they are of one alone."""
    if not puts and not deleted:
        return
    belongs_to_one = len(owners) == 1 and all(each.user_id for each in puts)
    record(
        project_id=project_id,
        end_user_id=next(iter(owners.values())).pk if belongs_to_one else None,
        verb="items_changed",
        object_kind="project",
        object_id=project_id,
        details={"stored": len(puts), "deleted": deleted},
    )
