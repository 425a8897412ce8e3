"""Write and read items of agents; an item that has expired is read by none."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.contrib.postgres.search import SearchQuery, SearchRank
from django.db import transaction
from django.db.models import DurationField, ExpressionWrapper, F, Func, TextField, Value
from django.db.models.functions import Now, NullIf
from django.db.models.lookups import Exact
from django.utils import timezone

from apps.common.errors import Conflict
from apps.items.models import ItemQuerySet, StoredItem
from apps.items.value_filter import filter_conditions
from apps.memories.ledger.record import record
from apps.pipeline.core.identifiers import end_user_id
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.redact import redact, redact_json
from apps.tenants.models import EndUser
from apps.traces.get_or_create import open_end_user
from apps.traces.policies import active_policy

READS = frozenset({"get", "search", "list_namespaces"})
ANY_LABEL = "*"  # in a prefix or suffix of namespaces
WORDS_CHARACTERS = 100_000
_BELOW_ONE = 32  # normalisation of ts_rank

# The validated fields of an operation, of which `operation` is its name.
Operation = Mapping[str, Any]
# What came of it: `item`, `items`, `namespaces` or `deleted`.
Outcome = dict[str, Any]


class ItemOrder(StrEnum):
    """The order of found items: by creation, or last written first."""

    OLDEST = "oldest"
    NEWEST = "newest"
    UPDATED = "updated"


_ORDERS = {ItemOrder.OLDEST: ["id"], ItemOrder.NEWEST: ["-id"], ItemOrder.UPDATED: ["-updated_at", "-id"]}


def run_item_operations(*, project_id: UUID, operations: Sequence[Operation]) -> list[Outcome]:
    """Return what came of each operation; all of them are carried out, or none.

    Reads see the items from before the writes. Values are redacted as the project's policy says, and the ledger records
    how many items were stored and deleted. Raises Conflict for an unexpected version, and while an end user of the
    operations is being erased; BadInput for a filter with a bad operator.
    """
    items = StoredItem.objects.filter(project_id=project_id)
    puts = {place: each for place, each in enumerate(operations) if each["operation"] == "put"}
    policy = active_policy(project_id=project_id).redaction if puts else None
    outcomes: list[Outcome] = [{}] * len(operations)
    with transaction.atomic():
        owners = _open_owners(project_id, puts.values())
        for place, each in enumerate(operations):
            if each["operation"] in READS:
                outcomes[place] = _read(items, each, project_id)
        # Made in the order of the request, which their identifiers keep.
        new = {place: _new_item(project_id, put, owners.get(put["user_id"]), policy) for place, put in puts.items()}
        for place in _in_order_of_locks(operations):
            if place in puts:
                outcomes[place] = {"item": _store(items, new[place], puts[place]["expected_version"])}
            else:
                outcomes[place] = _delete(items, operations[place])
        deleted = sum(each.get("deleted", 0) for each in outcomes)
        if puts or deleted:
            belongs_to_one = len(owners) == 1 and all(each["user_id"] for each in puts.values())
            record(
                "items_changed",
                "project",
                project_id,
                project_id=project_id,
                end_user_id=next(iter(owners.values())).pk if belongs_to_one else None,
                details={"stored": len(puts), "deleted": deleted},
            )
    return outcomes


def _open_owners(project_id: UUID, puts: Iterable[Operation]) -> dict[str, EndUser]:
    """Create and lock the end users of items, in one order, so that no two requests wait for each other."""
    named = {each["user_id"] for each in puts if each["user_id"] is not None}
    ordered = sorted(named, key=lambda user_id: end_user_id(project_id=project_id, user_id=user_id))
    return {user_id: open_end_user(project_id=project_id, user_id=user_id) for user_id in ordered}


def _in_order_of_locks(operations: Sequence[Operation]) -> list[int]:
    """Return the places of what writes, in one order of keys, so that no two requests wait for each other.

    Several writes of one key keep their order. What deletes by namespace is not moved past other operations.
    """
    writes = [place for place, each in enumerate(operations) if each["operation"] not in READS]
    if all("key" in operations[place] for place in writes):
        writes.sort(key=lambda place: (operations[place]["namespace"], operations[place]["key"]))
    return writes


def _read(items: ItemQuerySet, wanted: Operation, project_id: UUID) -> Outcome:
    """Carry out an operation that reads. Raises BadInput for a filter with a bad operator."""
    if wanted["operation"] == "list_namespaces":
        return {"namespaces": _namespaces(items, wanted)}
    if wanted["operation"] == "search":
        found = _search(items, wanted, project_id)
        outcome: Outcome = {"items": found}
    else:
        found = list(items.shown().filter(namespace=wanted["namespace"], key=wanted["key"]))
        outcome = {"item": found[0] if found else None}
    expiring = [each.id for each in found if each.expires_at is not None]
    if wanted["refresh_ttl"] and expiring:
        time_to_live = ExpressionWrapper(F("ttl_minutes") * Value(timedelta(minutes=1)), output_field=DurationField())
        items.filter(id__in=expiring).update(expires_at=Now() + time_to_live)
    return outcome


def _search(items: ItemQuerySet, wanted: Operation, project_id: UUID) -> list[StoredItem]:
    """Find items. Raises BadInput for a filter with a bad operator."""
    items = items.shown().below(wanted["namespace_prefix"]).filter(*filter_conditions(wanted["filter"], at="/filter"))
    order: list[Any] = [*_ORDERS[wanted["order"]]]
    if wanted["user_id"] is not None:
        items = items.filter(end_user=end_user_id(project_id=project_id, user_id=wanted["user_id"]))
    if wanted["query"]:  # any of its words counts, and what has none of them comes last, without a score
        any_word = " or ".join(re.findall(r"\w+", wanted["query"]))
        words = SearchQuery(any_word, config="english", search_type="websearch")
        rank = SearchRank(F("terms"), words, normalization=Value(_BELOW_ONE))
        items = items.annotate(score=NullIf(rank, Value(0.0)))
        order.insert(0, F("score").desc(nulls_last=True))
    return list(items.order_by(*order)[wanted["offset"] : wanted["offset"] + wanted["limit"]])


def _namespaces(items: ItemQuerySet, wanted: Operation) -> list[list[str]]:
    """List the namespaces with items, sorted."""
    items = items.unexpired().filter(namespace__len__gte=max(len(wanted["prefix"]), len(wanted["suffix"])))
    for place, label in enumerate(wanted["prefix"]):
        if label != ANY_LABEL:
            items = items.filter(**{f"namespace__{place}": label})
    labels = Func(F("namespace"), function="to_jsonb", output_field=TextField())
    for back, label in enumerate(reversed(wanted["suffix"]), start=1):
        if label != ANY_LABEL:
            last = Func(labels, Value(str(-back)), function="jsonb_extract_path_text", output_field=TextField())
            items = items.filter(Exact(last, label))
    depth = wanted["max_depth"]
    shown = items.annotate(shown=F("namespace") if depth is None else F(f"namespace__0_{depth}"))
    found = shown.order_by("shown").values_list("shown", flat=True).distinct()
    return list(found[wanted["offset"] : wanted["offset"] + wanted["limit"]])


def _delete(items: ItemQuerySet, wanted: Operation) -> Outcome:
    """Carry out an operation that deletes."""
    if wanted["operation"] == "clear":
        return {"deleted": items.below(wanted["namespace_prefix"]).delete()[0]}
    items = items.filter(namespace=wanted["namespace"])
    if wanted["operation"] == "delete":
        return {"deleted": items.unexpired().filter(key=wanted["key"]).delete()[0]}
    while newest := items.shown().order_by("-id").first():  # pop: of several callers at once, each gets another item
        if items.filter(id=newest.id).delete()[0]:
            return {"item": newest, "deleted": 1}
    return {"deleted": 0}


def _new_item(
    project_id: UUID, put: Mapping[str, Any], owner: EndUser | None, policy: RedactionPolicy | None
) -> StoredItem:
    """Return the item that a put stores, redacted."""
    now, minutes = timezone.now(), put["ttl_minutes"]
    value, text = put["value"], put["text"]
    words = (" ".join(_texts(value)) if text is None else text)[:WORDS_CHARACTERS]
    if policy is not None and policy.items:
        value, words = redact_json(value, policy=policy), redact(words, policy=policy).text
    return StoredItem(
        project_id=project_id,
        namespace=put["namespace"],
        key=put["key"],
        end_user=owner,
        session_id=put["session_id"] or "",
        value=value,
        words=words,
        ttl_minutes=minutes,
        expires_at=None if minutes is None else now + timedelta(minutes=minutes),
        created_at=now,
        updated_at=now,
    )


def _store(items: ItemQuerySet, new: StoredItem, expected_version: int | None) -> StoredItem:
    """Store an item in place of the one of its key. Raises Conflict if that does not have the expected version."""
    of_key = items.filter(namespace=new.namespace, key=new.key)
    of_key.filter(expires_at__lte=new.updated_at).delete()
    if not expected_version:  # of several writers of a new key, the others find the row of the first
        StoredItem.objects.bulk_create([new], ignore_conflicts=True)
    item = of_key.defer("terms").select_for_update().first()
    if item is None and expected_version:
        raise Conflict(f"there is no item {new}")
    if item is None:  # it was deleted meanwhile
        return _store(items, new, expected_version)
    if item.id == new.id:
        return item
    if expected_version not in (None, item.version):
        raise Conflict(f"the item {new} has changed, or exists already")
    new.id, new.created_at, new.version = item.id, item.created_at, item.version + 1
    new.save(force_update=True)
    return new


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts within a value, whose nesting the parser has limited."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
