"""Write and read items of agents; an item that has expired is read by none."""

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchQuery, SearchRank
from django.db import transaction
from django.db.models import CharField, DurationField, ExpressionWrapper, F, Func, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Now, NullIf
from django.db.models.lookups import Exact
from django.utils import timezone

from apps.common.errors import Conflict
from apps.items.models import StoredItem
from apps.items.operations import (
    ANY_LABEL,
    ClearItems,
    DeleteItem,
    GetItem,
    ItemOperation,
    ItemOrder,
    ItemOutcome,
    ListNamespaces,
    PopItem,
    PutItem,
    SearchItems,
)
from apps.items.value_filter import filter_conditions
from apps.memories.ledger.record import record
from apps.pipeline.core.identifiers import end_user_id, new_id
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.redact import redact, redact_json
from apps.tenants.models import EndUser
from apps.traces.get_or_create import open_end_user
from apps.traces.policies import active_policy

WORDS_CHARACTERS = 100_000
_ORDERS = {ItemOrder.OLDEST: ["id"], ItemOrder.NEWEST: ["-id"], ItemOrder.UPDATED: ["-updated_at", "-id"]}
_BELOW_ONE = 32  # normalisation of ts_rank
_LABELS: "ArrayField[Any, Any]" = ArrayField(CharField())


def is_read(operation: ItemOperation) -> bool:
    """Return True if an operation reads only."""
    return isinstance(operation, GetItem | SearchItems | ListNamespaces)


def run_item_operations(*, project_id: UUID, operations: Sequence[ItemOperation]) -> list[ItemOutcome]:
    """Return what came of each operation; all of them are carried out, or none.

    Reads see the items from before the writes. Values are redacted as the project's policy says, and the ledger records
    how many items were stored and deleted. Raises Conflict for an unexpected version, and while an end user of the
    operations is being erased; BadInput for a filter with a bad operator.
    """
    puts = [each for each in operations if isinstance(each, PutItem)]
    policy = active_policy(project_id=project_id).redaction if puts else None
    outcomes = [ItemOutcome()] * len(operations)
    with transaction.atomic():
        # Created and locked in one order, so that no two requests wait for each other.
        named = {each.user_id for each in puts if each.user_id is not None}
        ordered = sorted(named, key=lambda user_id: end_user_id(project_id=project_id, user_id=user_id))
        owners = {user_id: open_end_user(project_id=project_id, user_id=user_id) for user_id in ordered}
        for place, operation in enumerate(operations):
            if is_read(operation):
                outcomes[place] = _read(project_id, operation)
        # In one order of keys, too; identifiers keep the order of the request, and so do several writes of one key.
        # What deletes by namespace is not moved past other operations.
        writes = [(place, each, new_id()) for place, each in enumerate(operations) if not is_read(each)]
        keyed = [(place, each, key) for place, each, key in writes if isinstance(each, PutItem | DeleteItem)]
        by_key = sorted(keyed, key=lambda write: (write[1].namespace, write[1].key))
        for place, operation, item_id in by_key if len(keyed) == len(writes) else writes:
            if isinstance(operation, PutItem):
                outcomes[place] = _put(project_id, item_id, operation, owners.get(operation.user_id or ""), policy)
            else:
                outcomes[place] = _delete(project_id, operation)
        deleted = sum(each.deleted or 0 for each in outcomes)
        if puts or deleted:
            belongs_to_one = len(owners) == 1 and all(each.user_id for each in puts)
            record(
                "items_changed",
                "project",
                project_id,
                project_id=project_id,
                end_user_id=next(iter(owners.values())).pk if belongs_to_one else None,
                details={"stored": len(puts), "deleted": deleted},
            )
    return outcomes


def _read(project_id: UUID, operation: ItemOperation) -> ItemOutcome:
    """Carry out an operation that reads. Raises BadInput for a filter with a bad operator."""
    if isinstance(operation, ListNamespaces):
        return ItemOutcome(namespaces=_namespaces(project_id, operation))
    if isinstance(operation, SearchItems):
        rows = _shown(_below(project_id, operation.namespace_prefix))
        rows = rows.filter(*filter_conditions(operation.filter, at="/filter"))
        order: list[Any] = list(_ORDERS[operation.order])
        if operation.user_id is not None:
            rows = rows.filter(end_user_id=end_user_id(project_id=project_id, user_id=operation.user_id))
        if operation.query:  # any of its words counts, and what has none of them comes last, without a score
            any_word = " or ".join(re.findall(r"\w+", operation.query))
            query = SearchQuery(any_word, config="english", search_type="websearch")
            rank = SearchRank(F("terms"), query, normalization=Value(_BELOW_ONE))
            rows = rows.annotate(score=NullIf(rank, Value(0.0)))
            order.insert(0, F("score").desc(nulls_last=True))
        found = list(rows.order_by(*order)[operation.offset : operation.offset + operation.limit])
        outcome = ItemOutcome(items=found)
    elif isinstance(operation, GetItem):
        found = list(_shown(_at(project_id, operation.namespace, key=operation.key)))
        outcome = ItemOutcome(item=found[0] if found else None)
    else:
        raise TypeError(operation)
    expiring = [each.id for each in found if each.expires_at is not None]
    if operation.refresh_ttl and expiring:
        time_to_live = ExpressionWrapper(F("ttl_minutes") * Value(timedelta(minutes=1)), output_field=DurationField())
        StoredItem.objects.filter(id__in=expiring).update(expires_at=Now() + time_to_live)
    return outcome


def _at(project_id: UUID, namespace: Sequence[str], **key: str) -> QuerySet[StoredItem]:
    """Filter the items of just this namespace, or the one of a key."""
    return StoredItem.objects.filter(project_id=project_id, namespace=list(namespace), **key)


def _below(project_id: UUID, prefix: Sequence[str]) -> QuerySet[StoredItem]:
    """Filter the items below a namespace: a range of the index, as no label holds a control character."""
    items = StoredItem.objects.filter(project_id=project_id)
    if not prefix:
        return items
    after = [*prefix[:-1], f"{prefix[-1]}\x01"]
    return items.filter(
        namespace__gte=Cast(Value(list(prefix), _LABELS), _LABELS), namespace__lt=Cast(Value(after, _LABELS), _LABELS)
    )


def _not_expired(items: QuerySet[StoredItem]) -> QuerySet[StoredItem]:
    return items.filter(Q(expires_at=None) | Q(expires_at__gt=Now()))


def _shown(items: QuerySet[StoredItem]) -> QuerySet[StoredItem]:
    """Read what has not expired, as answers show it."""
    return _not_expired(items).select_related("end_user").defer("terms", "words")


def _namespaces(project_id: UUID, wanted: ListNamespaces) -> list[list[str]]:
    """Return namespaces with items, sorted."""
    items = _not_expired(StoredItem.objects.filter(project_id=project_id))
    items = items.filter(namespace__len__gte=max(len(wanted.prefix), len(wanted.suffix)))
    for place, label in enumerate(wanted.prefix):
        if label != ANY_LABEL:
            items = items.filter(**{f"namespace__{place}": label})
    labels = Func(F("namespace"), function="to_jsonb", output_field=TextField())
    for back, label in enumerate(reversed(wanted.suffix), start=1):
        if label != ANY_LABEL:
            last = Func(labels, Value(str(-back)), function="jsonb_extract_path_text", output_field=TextField())
            items = items.filter(Exact(last, label))
    shown = F("namespace") if wanted.max_depth is None else F(f"namespace__0_{wanted.max_depth}")
    found = items.annotate(shown=shown).order_by("shown").values_list("shown", flat=True).distinct()
    return list(found[wanted.offset : wanted.offset + wanted.limit])


def _delete(project_id: UUID, operation: ItemOperation) -> ItemOutcome:
    """Delete items, and count those that have not expired; the schedule deletes expired ones."""
    if isinstance(operation, DeleteItem):
        of_key = _not_expired(_at(project_id, operation.namespace, key=operation.key))
        return ItemOutcome(deleted=of_key.delete()[0])
    if isinstance(operation, ClearItems):
        return ItemOutcome(deleted=_below(project_id, operation.namespace_prefix).delete()[0])
    if isinstance(operation, PopItem):
        # Of several callers at once, each gets another item.
        while newest := _shown(_at(project_id, operation.namespace)).order_by("-id").first():
            if StoredItem.objects.filter(id=newest.id).delete()[0]:
                return ItemOutcome(item=newest, deleted=1)
        return ItemOutcome(deleted=0)
    raise TypeError(operation)


def _put(
    project_id: UUID, item_id: UUID, put: PutItem, owner: EndUser | None, policy: RedactionPolicy | None
) -> ItemOutcome:
    """Store an item; `item_id` is that of a new one. Raises Conflict if the key does not have the expected version."""
    now, name = timezone.now(), "/".join((*put.namespace, put.key))
    of_key = _at(project_id, put.namespace, key=put.key)
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
        new = StoredItem(id=item_id, created_at=now, **place, **values)
        StoredItem.objects.bulk_create([new], ignore_conflicts=True)
    item = of_key.defer("terms").select_for_update().first()
    if item is None and put.expected_version:
        raise Conflict(f"there is no item {name}")
    if item is None:  # it was deleted meanwhile
        return _put(project_id, item_id, put, owner, policy)
    if item.id != item_id:
        if put.expected_version not in (None, item.version):
            raise Conflict(f"the item {name} has changed, or exists already")
        for column, changed in (values | {"version": item.version + 1}).items():
            setattr(item, column, changed)
        item.save(update_fields=[*values, "version"])
    return ItemOutcome(item=item)


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts within a value, whose nesting the parser has limited."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
