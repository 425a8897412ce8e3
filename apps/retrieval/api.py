"""Endpoints POST /v1/memories/search and POST /v1/context."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.serializers import (
    CONTENT_CHARACTERS,
    OPTIONAL,
    AgentScopeSerializer,
    ApiSerializer,
    DayEndField,
    DayStartField,
    EnumField,
    MetadataField,
    NameField,
    PublicIdField,
    agent_scope_of,
)
from apps.api.viewsets import ApiViewSet, operation
from apps.memories.api.requests import MAX_ENTITIES, ShareField
from apps.memories.api.responses import MemorySerializer
from apps.memories.filter import parse_filter
from apps.memories.models.memory import is_past_plan
from apps.pipeline.core.enums import MemoryType, Scope, Stakes, Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.input_validation import TooLarge
from apps.retrieval.query import SearchQuery, shown_statuses
from apps.retrieval.search import SearchHit
from apps.retrieval.services import build_context, search_memories


@extend_schema_field({"type": "string", "maxLength": CONTENT_CHARACTERS})
class QuestionField(serializers.CharField):
    """What is asked; one that is too long is refused with a code of its own."""

    def to_internal_value(self, data: Any) -> str:
        """Return the text. Raises ValidationError, TooLarge."""
        text = super().to_internal_value(data)
        if len(text) > CONTENT_CHARACTERS:
            raise TooLarge(f"has {len(text):,} characters; the limit is {CONTENT_CHARACTERS:,}", at="/query")
        return text


class SearchSerializer(AgentScopeSerializer):
    """A query with filters; a blank query returns the most important memories, whatever `min_score` is.

    A memory must have all `tags` and one of `entities` as its subject or object. `agent_id`, `app_id`, `run_id` and
    `metadata` select what one request told that named all of them; without `agent_id`, what is private to an agent is
    left out. `filter` combines conditions with AND, OR and NOT (docs/filters.md); the statuses that it names are
    searched as well. `since` and `until` limit when it was said. `as_of` selects what was true at a moment. Memories
    with a score below `min_score` are left out; without it, the setting of the project holds (0.115). `fields` names
    further fields of the results, as in GET /v1/memories/{id}, or "all"; `explain` adds all of them and how each result
    was scored.
    """

    user_id = NameField()
    query = QuestionField(source="text", allow_blank=True)
    limit = serializers.IntegerField(min_value=1, max_value=100, default=10)
    types = serializers.ListField(child=EnumField(MemoryType), default=list)
    topics = serializers.ListField(child=serializers.CharField(max_length=64, allow_blank=True), default=list)
    tags = serializers.ListField(child=serializers.CharField(max_length=64), default=list)
    entities = serializers.ListField(child=PublicIdField(Prefix.ENTITY), max_length=MAX_ENTITIES, default=list)
    metadata = MetadataField(**OPTIONAL)
    filter = serializers.DictField(
        help_text="Conditions on fields, combined with AND, OR and NOT: see docs/filters.md.", **OPTIONAL
    )
    statuses = serializers.ListField(child=EnumField(Status), default=list)
    since = DayStartField(source="said_from", **OPTIONAL)
    until = DayEndField(source="said_to", **OPTIONAL)
    stakes = EnumField(Stakes, default=Stakes.NORMAL)
    as_of = DayEndField(**OPTIONAL)
    min_confidence = ShareField(default=0.0)
    min_score = ShareField(**OPTIONAL)
    fields = serializers.ListField(  # type: ignore[assignment]  # no attribute of the class
        child=serializers.CharField(allow_blank=True), max_length=50, default=list
    )
    explain = serializers.BooleanField(default=False)

    def validate_fields(self, names: list[str]) -> list[str]:
        """Return the names. Raises ValidationError with the place of the first that is no field of a memory."""
        for place, name in enumerate(names):
            if name not in (*FoundMemorySerializer.Meta.fields, "all"):
                known = ", ".join(FURTHER_FIELDS)
                raise ValidationError({str(place): [f'is no field of a memory; known are {known} and "all"']})
        return names


class ExplanationSerializer(ApiSerializer):
    """How a result was scored.

    `parts` compare the memory with the others; their sum is its relevance. `evidence` has the shares of the query's
    words and meaning that the memory itself has. The score is the relevance, lowered where there is little evidence.
    """

    parts = serializers.DictField(child=serializers.FloatField())
    evidence = serializers.DictField(child=serializers.FloatField())


_QUERY_FIELDS = {each.name for each in dataclasses.fields(SearchQuery)}
_IN_SHORT = ["id", "content", "type", "said_at", "score", "tags", "metadata", "version"]
_MARKS = ["unverified", "past_plan", "disputed"]
FURTHER_FIELDS = [name for name in MemorySerializer.Meta.fields if name not in _IN_SHORT]


class FoundMemorySerializer(MemorySerializer):
    """A memory in short, with its `score`: how much it has to do with the query, from 0 (nothing) to 1.

    Scores are comparable between queries, and results are in their order. `unverified` memories await review.
    `disputed` memories contradict those in `contradicted_by`: nobody has settled it yet, or both were said to be true,
    and their periods overlap. A `past_plan` was told before its day, which is over: nobody has said that it happened.
    """

    # The context has the further `fields` to show, and whether to `explain` the score.
    may_be_missing = frozenset((*FURTHER_FIELDS, "contradicted_by", "explanation"))
    score = serializers.FloatField()
    unverified = serializers.BooleanField()
    past_plan = serializers.BooleanField()
    disputed = serializers.BooleanField()
    contradicted_by = serializers.ListField(child=serializers.CharField())
    explanation = ExplanationSerializer()

    class Meta(MemorySerializer.Meta):
        fields = [*_IN_SHORT, *_MARKS, *FURTHER_FIELDS, "contradicted_by", "explanation"]

    def to_representation(self, instance: SearchHit) -> dict[str, Any]:
        """Return a hit; of its memory only what is asked for is read."""
        memory, contradicted_by = instance.memory, [show(Prefix.MEMORY, each) for each in instance.contradicted_by]
        of_memory = self.fields
        wanted = [name for name in (*_IN_SHORT, *self.context["fields"]) if name != "score"]
        shown: dict[str, Any] = {}
        for name in wanted:
            value = of_memory[name].get_attribute(memory)
            shown[name] = None if value is None else of_memory[name].to_representation(value)
        shown |= {
            "score": instance.score,
            "unverified": instance.is_unverified,
            "past_plan": is_past_plan(memory, now=timezone.now()),
            "disputed": bool(contradicted_by),
        }
        if contradicted_by:
            shown["contradicted_by"] = contradicted_by
        if self.context["explain"]:
            shown["explanation"] = {"parts": _rounded(instance.parts), "evidence": _rounded(instance.evidence)}
        return shown


def _rounded(parts: Mapping[str, float]) -> dict[str, float]:
    return {name: round(part, 4) for name, part in parts.items()}


class WaitingMessageSerializer(ApiSerializer):
    """A message that was accepted and waits to be processed: what the user said, not what is known."""

    turn_id = PublicIdField(Prefix.TURN)
    session_id = serializers.CharField()
    content = serializers.CharField()
    said_at = serializers.DateTimeField()


@extend_schema_serializer(component_name="SearchResponse")
class SearchResultSerializer(ApiSerializer):
    """Search results, best first; `nothing_found` says that no memory answers the query.

    `closest` has what came nearest then, if the search is explained. `waiting` has messages that are not processed yet
    and share a word with the query, the latest first; a search with conditions has none.
    """

    may_be_missing = frozenset({"closest"})
    results = FoundMemorySerializer(many=True)
    nothing_found = serializers.BooleanField()
    closest = FoundMemorySerializer(many=True, required=False)
    waiting = WaitingMessageSerializer(many=True)


class ContextSerializer(AgentScopeSerializer):
    """The purpose of a context block and its token budget.

    Memories with a score of at least `min_score` for the query come first; without it, the setting of the project
    holds. `agent_id`, `app_id` and `run_id` select as in a search.
    """

    user_id = NameField()
    query = QuestionField(source="text", allow_blank=True, default="")
    token_budget = serializers.IntegerField(min_value=1, max_value=32_000, default=1_000)
    stakes = EnumField(Stakes, default=Stakes.NORMAL)
    min_score = ShareField(**OPTIONAL)


@extend_schema_serializer(component_name="ContextResponse")
class ContextBlockSerializer(ApiSerializer):
    """Text for an agent's prompt; empty if nothing is known. `omitted` counts memories that exceeded the budget."""

    context = serializers.CharField(source="text")  # type: ignore[assignment]  # no attribute of the class
    tokens = serializers.IntegerField()
    memory_ids = serializers.ListField(child=PublicIdField(Prefix.MEMORY))
    omitted = serializers.IntegerField()


def search_query(body: Mapping[str, Any]) -> SearchQuery:
    """Convert the validated body of a search or a context block. Raises BadInput for the filter."""
    given = {name: value for name, value in body.items() if name in _QUERY_FIELDS and value is not None}
    given |= {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    if "filter" in given:
        given["filter"] = wanted = parse_filter(given["filter"], at="/filter")
        if not given["statuses"] and wanted.statuses:  # beside those that are shown anyway
            given["statuses"] = (*shown_statuses(body["stakes"]), *wanted.statuses)
    return SearchQuery(**given, told_in=agent_scope_of(body))


class SearchViewSet(ApiViewSet):
    """Search of memories, and the context block for an agent's prompt."""

    scopes = {"POST": Scope.READ}

    @operation(
        "search_memories",
        summary="Search memories",
        body=SearchSerializer,
        answers={200: SearchResultSerializer},
        example={"user_id": "ana", "query": "Where does Ana live?", "limit": 5},
        is_repeatable=True,
    )
    def search(self, request: Request) -> Response:
        """Search the memories of one end user by keywords and by meaning, best first."""
        body = self.valid(SearchSerializer)
        names, explain = body["fields"], body["explain"]
        has_all = explain or "all" in names
        fields = FURTHER_FIELDS if has_all else [name for name in FURTHER_FIELDS if name in names]
        found = search_memories(
            project_id=self.caller.project_id,
            user_id=body["user_id"],
            query=search_query(body),
            in_short=not fields,
            with_closest=explain,
        )
        context = {"fields": fields, "explain": explain}
        answer = {
            "results": FoundMemorySerializer(found.hits, many=True, context=context).data,
            "nothing_found": not found.hits,
            "waiting": WaitingMessageSerializer(found.waiting, many=True).data,
        }
        if explain:
            answer["closest"] = FoundMemorySerializer(found.closest, many=True, context=context).data
        return Response(answer)

    @operation(
        "build_context",
        summary="Build a context block",
        body=ContextSerializer,
        answers={200: ContextBlockSerializer},
        example={"user_id": "ana", "query": "What should we cook?", "token_budget": 800},
        is_repeatable=True,
    )
    def context(self, request: Request) -> Response:
        """Build a text block about an end user for an agent's prompt, marked so that it is never extracted again."""
        body = self.valid(ContextSerializer)
        block = build_context(
            project_id=self.caller.project_id,
            user_id=body["user_id"],
            query=search_query(body),
            token_budget=body["token_budget"],
        )
        return self.answer(ContextBlockSerializer, block)
