"""Chainable querysets for memories, their origins, links and entities."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, Self, cast
from uuid import UUID

from django.apps import apps
from django.db.models import Case, Exists, F, Field, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from apps.memories.source_filter import told_by_source
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import LIVE_STATUSES, LinkKind, LinkResolution, LinkStatus, Status, values_of
from apps.pipeline.core.identifiers import Prefix, show

_VALIDITY = ("valid_from", "valid_until", "expires_at")
NOT_SHOWN = frozenset({"terms", "context_terms", "context"})  # columns that only the search needs


class MemoryQuerySet(QuerySet["Memory"]):  # type: ignore[name-defined]  # models import this file
    """Memories by owner, status, entity and time."""

    def for_end_user(self, end_user_id: UUID) -> Self:
        """Filter the memories of one end user."""
        return self.filter(end_user_id=end_user_id)

    def for_project(self, project_id: UUID) -> Self:
        """Filter the memories of one project."""
        return self.filter(project_id=project_id)

    def active(self) -> Self:
        """Filter active memories, which agents may retrieve."""
        return self.filter(status=Status.ACTIVE)

    def live(self) -> Self:
        """Filter memories that are active or pending review."""
        return self.filter(status__in=sorted(LIVE_STATUSES))

    def awaiting_review(self) -> Self:
        """Filter memories that are pending review."""
        return self.filter(status=Status.PENDING_REVIEW)

    def ended(self, moment: datetime) -> Self:
        """Filter active memories whose validity ended by a moment."""
        return self.active().filter(valid_until__lte=moment)

    def about(self, entity_ids: Collection[UUID]) -> Self:
        """Filter memories with one of some entities as subject or object."""
        shown = [show(Prefix.ENTITY, each) for each in entity_ids]
        return self.filter(Q(subject_id__in=entity_ids) | Q(object__entity__in=shown))

    def of_words(self, words: str) -> Self:
        """Filter memories that have each of the words in their content or in the name of their user, in any order."""
        found = self
        for word in words.split():
            found = found.filter(Q(content__icontains=word) | Q(end_user__external_id__icontains=word))
        return found

    def told_in(self, scope: AgentScope) -> Self:
        """Filter what an agent may be told: with an agent, what it has told, otherwise what all agents share.

        One source must be in all of the scope.
        """
        if not scope.given():
            return self.filter(private_to="")
        return self.filter(told_by_source(scope=scope, metadata={}), private_to__in=["", scope.agent_id])

    def to_show(self) -> Self:
        """Join the related rows that responses and pages show, and defer columns that only the search needs."""
        return self.select_related("subject", "end_user", "session").defer(*NOT_SHOWN)

    def known_at(self, moment: datetime) -> Self:
        """Filter memories stored by a moment; annotate status and validity of that time (`status_then`, …).

        reading.past.as_believed restores the other values.
        """
        changes = apps.get_model("memories", "MemoryVersion").objects.filter(
            end_user=OuterRef("end_user"), memory=OuterRef("pk"), known_until__gt=moment
        )
        then: dict[str, Case] = {}
        for column in ("status", *_VALIDITY):
            field = cast("Field[Any, Any]", apps.get_model("memories", "Memory")._meta.get_field(column))
            first = changes.filter(values__has_key=column).order_by("version")
            replaced = first.values(then=Cast(KeyTextTransform(column, "values"), field))
            # The value that the first change since has replaced, or the current one.
            then[f"{column}_then"] = Case(
                When(Exists(replaced), then=Subquery(replaced[:1])), default=F(column), output_field=field
            )
        return self.filter(created_at__lte=moment).annotate(**then)

    def true_at(self, moment: datetime, *, as_known: bool = False) -> Self:
        """Filter memories that were true at a moment, by present knowledge or, after `known_at`, by that of then."""
        start, end, expiry = (f"{column}_then" if as_known else column for column in _VALIDITY)
        return self.filter(
            Q(**{end: None}) | Q(**{f"{end}__gt": moment}),
            Q(**{expiry: None}) | Q(**{f"{expiry}__gt": moment}),
            **{f"{start}__lte": moment},
        )


class MemoryOriginQuerySet(QuerySet["MemoryOrigin"]):  # type: ignore[name-defined]  # models import this file
    """The turns that say a memory."""

    def standing(self) -> Self:
        """Filter the origins that no rollback has withdrawn."""
        return self.filter(withdrawn=False)


class MemoryLinkQuerySet(QuerySet["MemoryLink"]):  # type: ignore[name-defined]  # models import this file
    """Links by project, words and status."""

    def for_project(self, project_id: UUID) -> Self:
        """Filter the links of one project."""
        return self.filter(project_id=project_id)

    def of_words(self, words: str) -> Self:
        """Filter links that have each of the words in one of their memories or in the name of the user."""
        found = self
        for word in words.split():
            sides = Q(from_memory__content__icontains=word) | Q(to_memory__content__icontains=word)
            found = found.filter(sides | Q(end_user__external_id__icontains=word))
        return found

    def to_settle(self) -> Self:
        """Filter open links whose memories are both live; the others need no decision any more."""
        live = values_of(LIVE_STATUSES)
        return self.filter(status=LinkStatus.OPEN, from_memory__status__in=live, to_memory__status__in=live)

    def disputed(self) -> Self:
        """Filter contradictions of live memories that agents have to be told.

        They are those that wait for a decision, and those of which a person has said that both are true, although their
        periods overlap.
        """
        live = values_of(LIVE_STATUSES)
        overlaps = (Q(from_memory__valid_until=None) | Q(from_memory__valid_until__gt=F("to_memory__valid_from"))) & (
            Q(to_memory__valid_until=None) | Q(to_memory__valid_until__gt=F("from_memory__valid_from"))
        )
        both_at_once = Q(status=LinkStatus.SETTLED, resolution=LinkResolution.BOTH) & overlaps
        return self.filter(
            Q(status=LinkStatus.OPEN) | both_at_once,
            kind=LinkKind.CONTRADICTS,
            from_memory__status__in=live,
            to_memory__status__in=live,
        )


class EntityQuerySet(QuerySet["Entity"]):  # type: ignore[name-defined]  # models import this file
    """Entities by their names."""

    def standing(self) -> Self:
        """Filter the entities that are neither merged into another nor withdrawn by a rollback."""
        return self.filter(merged_into__isnull=True, withdrawn=False)

    def called(self, words: str) -> Self:
        """Filter entities with a text in their name or in an alias."""
        folded = canonical_text(words)
        aliases = apps.get_model("memories", "EntityAlias").objects
        named = aliases.filter(
            withdrawn=False, end_user=OuterRef("end_user"), entity=OuterRef("pk"), folded__contains=folded
        )
        return self.filter(Exists(named) | Q(name__icontains=words))
