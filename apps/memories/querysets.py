"""Chainable adjectives for memories."""

from datetime import datetime
from typing import Any, Self, cast
from uuid import UUID

from django.apps import apps
from django.db.models import Case, Exists, F, Field, Model, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import LIVE_STATUSES, LinkKind, LinkStatus, Status, values_of

_VALIDITY = ("valid_from", "valid_until", "expires_at")
NOT_SHOWN = frozenset({"terms", "context_terms", "context"})  # what only a search needs


class MemoryQuerySet(QuerySet["Memory"]):  # type: ignore[name-defined]  # models import this file
    """Memories by where they stand and whose they are."""

    def for_end_user(self, end_user_id: UUID) -> Self:
        """Keep one end user's memories."""
        return self.filter(end_user_id=end_user_id)

    def for_project(self, project_id: UUID) -> Self:
        """Keep one project's memories."""
        return self.filter(project_id=project_id)

    def active(self) -> Self:
        """Keep what an agent may be told."""
        return self.filter(status=Status.ACTIVE)

    def live(self) -> Self:
        """Keep what is held to be true, or waits for a person to say so."""
        return self.filter(status__in=sorted(LIVE_STATUSES))

    def awaiting_review(self) -> Self:
        """Keep what waits for a person."""
        return self.filter(status=Status.PENDING_REVIEW)

    def expired(self, moment: datetime) -> Self:
        """Keep what has expired by a moment."""
        return self.filter(expires_at__lte=moment)

    def about(self, entity: Model) -> Self:
        """Keep what names an entity as its subject or its object."""
        identifier = getattr(entity, "shown_id", "")
        return self.filter(Q(subject_id=entity.pk) | Q(object__entity=identifier))

    def to_show(self) -> Self:
        """Read what an answer shows with the memories, and leave out what only a search needs."""
        return self.select_related("subject", "end_user", "session").defer(*NOT_SHOWN)

    def known_at(self, moment: datetime) -> Self:
        """Keep what had been written by a moment, each with its status and validity of then (`status_then`, …).

        reading.as_of.as_believed puts back the other values.
        """
        then = {f"{column}_then": _value_at(column, moment) for column in ("status", *_VALIDITY)}
        return self.filter(created_at__lte=moment).annotate(**then)

    def true_at(self, moment: datetime, *, as_known: bool = False) -> Self:
        """Keep what was true at a moment, by what is known now or, after `known_at`, by what was known then."""
        start, end, expiry = (f"{column}_then" if as_known else column for column in _VALIDITY)
        return self.filter(
            Q(**{end: None}) | Q(**{f"{end}__gt": moment}),
            Q(**{expiry: None}) | Q(**{f"{expiry}__gt": moment}),
            **{f"{start}__lte": moment},
        )


def _value_at(column: str, moment: datetime) -> Case:
    """Return the value of a column at a moment: what the first change since then has replaced, else that of now."""
    field = cast("Field[Any, Any]", apps.get_model("memories", "Memory")._meta.get_field(column))
    past = (
        apps.get_model("memories", "MemoryVersion")
        .objects.filter(
            end_user=OuterRef("end_user"), memory=OuterRef("pk"), known_until__gt=moment, values__has_key=column
        )
        .order_by("version")
        .values(then=Cast(KeyTextTransform(column, "values"), field))
    )
    return Case(When(Exists(past), then=Subquery(past[:1])), default=F(column), output_field=field)


class MemoryLinkQuerySet(QuerySet["MemoryLink"]):  # type: ignore[name-defined]  # models import this file
    """Links by what is left to do with them."""

    def for_project(self, project_id: UUID) -> Self:
        """Keep one project's links."""
        return self.filter(project_id=project_id)

    def of_words(self, words: str) -> Self:
        """Keep links of a memory that holds some words, or of a user whose name does."""
        sides = Q(from_memory__content__icontains=words) | Q(to_memory__content__icontains=words)
        return self.filter(sides | Q(end_user__external_id__icontains=words))

    def of_kind(self, kind: LinkKind) -> Self:
        """Keep links of one kind."""
        return self.filter(kind=kind)

    def to_settle(self) -> Self:
        """Keep links that a person has yet to settle: both sides are live, else time has settled them."""
        live = values_of(LIVE_STATUSES)
        return self.filter(status=LinkStatus.OPEN, from_memory__status__in=live, to_memory__status__in=live)


class EntityQuerySet(QuerySet["Entity"]):  # type: ignore[name-defined]  # models import this file
    """Entities by their names."""

    def called(self, words: str) -> Self:
        """Keep entities with a name, or a former one, that holds some words."""
        folded = canonical_text(words)
        aliases = apps.get_model("memories", "EntityAlias").objects
        named = aliases.filter(end_user=OuterRef("end_user"), entity=OuterRef("pk"), folded__contains=folded)
        return self.filter(Exists(named) | Q(name__icontains=words))
