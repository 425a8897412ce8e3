"""Read items by key, namespace, value and words; an item that has expired is read by none."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchQuery, SearchRank
from django.db.models import (
    CharField,
    DurationField,
    ExpressionWrapper,
    F,
    Func,
    Q,
    QuerySet,
    TextField,
    Value,
)
from django.db.models.functions import Cast, Now, NullIf
from django.db.models.lookups import Exact

from apps.items.models import StoredItem
from apps.items.operations import ANY_LABEL, ItemOrder, ItemResponse, ItemSearchBody, NamespacesBody
from apps.items.value_filter import filter_conditions
from apps.pipeline.core.identifiers import end_user_id

_ORDERS = {
    ItemOrder.OLDEST: ("id",),
    ItemOrder.NEWEST: ("-id",),
    ItemOrder.UPDATED: ("-updated_at", "-id"),
}
_BELOW_ONE = 32  # normalisation of ts_rank
_LABELS: "ArrayField[Any, Any]" = ArrayField(CharField())


def items_below(project_id: UUID, prefix: Sequence[str]) -> QuerySet[StoredItem]:
    """Filter the items below a namespace: a range of the index, as no label holds a control character."""
    items = StoredItem.objects.filter(project_id=project_id)
    if not prefix:
        return items
    after = [*prefix[:-1], f"{prefix[-1]}\x01"]
    return items.filter(
        namespace__gte=Cast(Value(list(prefix), _LABELS), _LABELS), namespace__lt=Cast(Value(after, _LABELS), _LABELS)
    )


def read_items(*, project_id: UUID, wanted: ItemSearchBody) -> list[tuple[UUID, ItemResponse]]:
    """Return found items with their identifiers. Raises BadInput for a filter with a bad operator."""
    found = items_below(project_id, wanted.namespace_prefix)
    if wanted.user_id is not None:
        found = found.filter(end_user_id=end_user_id(project_id=project_id, user_id=wanted.user_id))
    return _read(found.filter(*filter_conditions(wanted.filter, at="/filter")), wanted)


def read_item(*, project_id: UUID, namespace: Sequence[str], key: str) -> tuple[UUID, ItemResponse] | None:
    """Return the item of a key with its identifier."""
    of_key = StoredItem.objects.filter(project_id=project_id, namespace=list(namespace), key=key)
    return next(iter(_read(of_key, ItemSearchBody(limit=1))), None)


def read_newest(*, project_id: UUID, namespace: Sequence[str]) -> tuple[UUID, ItemResponse] | None:
    """Return the newest item of just this namespace with its identifier."""
    items = StoredItem.objects.filter(project_id=project_id, namespace=list(namespace))
    return next(iter(_read(items, ItemSearchBody(limit=1, order=ItemOrder.NEWEST))), None)


def _read(items: QuerySet[StoredItem], wanted: ItemSearchBody) -> list[tuple[UUID, ItemResponse]]:
    """Read items; with a query, any of its words counts, and what has none of them comes last, without a score."""
    order: list[Any] = list(_ORDERS[wanted.order])
    rows = _not_expired(items).select_related("end_user").defer("terms", "words")
    if wanted.query:
        any_word = " or ".join(re.findall(r"\w+", wanted.query))
        query = SearchQuery(any_word, config="english", search_type="websearch")
        rank = SearchRank(F("terms"), query, normalization=Value(_BELOW_ONE))
        rows = rows.annotate(score=NullIf(rank, Value(0.0)))
        order.insert(0, F("score").desc(nulls_last=True))
    return [(row.id, item_response(row)) for row in rows.order_by(*order)[wanted.offset : wanted.offset + wanted.limit]]


def item_response(row: StoredItem) -> ItemResponse:
    """Convert a row."""
    return ItemResponse(
        namespace=row.namespace,
        key=row.key,
        value=row.value,
        version=row.version,
        created_at=row.created_at,
        updated_at=row.updated_at,
        expires_at=row.expires_at,
        user_id=row.end_user.external_id if row.end_user else None,
        session_id=row.session_id or None,
        score=getattr(row, "score", None),
    )


def _not_expired(items: QuerySet[StoredItem]) -> QuerySet[StoredItem]:
    return items.filter(Q(expires_at=None) | Q(expires_at__gt=Now()))


def refresh(item_ids: Sequence[UUID]) -> None:
    """Let items that expire live for their time again."""
    time_to_live = ExpressionWrapper(F("ttl_minutes") * Value(timedelta(minutes=1)), output_field=DurationField())
    items = StoredItem.objects.filter(id__in=item_ids, ttl_minutes__isnull=False)
    items.update(expires_at=Now() + time_to_live)


def read_namespaces(*, project_id: UUID, wanted: NamespacesBody) -> list[list[str]]:
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
