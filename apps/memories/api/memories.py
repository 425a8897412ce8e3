"""Endpoints /v1/memories: list, store, read, revise and retract, one or many."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.pagination import Pages
from apps.api.problems import Code, Problem, invalid, problem_of
from apps.api.serializers import ApiSerializer, FieldErrorSerializer, NameField, PublicIdField, validated
from apps.api.viewsets import ApiViewSet, operation
from apps.common.errors import Conflict, NotAllowed
from apps.intake.quotas import check_quotas
from apps.memories.api.requests import (
    MemoriesQuery,
    NewMemoriesSerializer,
    NewMemorySerializer,
    RetractionQuery,
    RevisionSerializer,
    adjustments,
    new_memories,
    new_memory,
    revision_of,
    selected,
    statuses_of,
    store_request,
)
from apps.memories.api.responses import (
    HistorySerializer,
    MemoryDetailSerializer,
    MemorySerializer,
    StoredMemoriesSerializer,
)
from apps.memories.models import Memory, MemoryVersion
from apps.memories.reading.past import as_believed
from apps.memories.services.revising import BulkOutcome, Revision, outcome_of, retract, retract_several, revise
from apps.memories.services.store import store_batch, store_with_outcomes
from apps.pipeline.core.enums import Scope, Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.input_validation import BadInput
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.pipeline.direct_write.outcomes import StoreResult

_ETAG = re.compile(r'(?:W/)?"?(\d{1,9})"?')

MAX_STORED = 1_000
MAX_REVISED = 200
MAX_RETRACTED = 1_000
Taken = TypeVar("Taken")


@extend_schema_field({"type": "object", "additionalProperties": {}, "minProperties": 1})
class ItemField(serializers.DictField):
    """One of many, which is read by itself: another that is invalid doesn't hinder it."""


@extend_schema_serializer(component_name="BatchBody")
class BatchSerializer(ApiSerializer):
    """Memories of one end user to store, each as in POST /v1/memories."""

    user_id = NameField()
    memories = serializers.ListField(child=ItemField(allow_empty=False), min_length=1, max_length=MAX_STORED)


@extend_schema_serializer(component_name="RevisionsBody")
class RevisionsSerializer(ApiSerializer):
    """Memories to revise: each with its `id` and new values as in PATCH /v1/memories/{memory_id}."""

    memories = serializers.ListField(child=ItemField(allow_empty=False), min_length=1, max_length=MAX_REVISED)


class BulkItemSerializer(ApiSerializer):
    """What became of one item: the memory, or the code and the errors because of which nothing was done for it.

    Pointers lead into the item.
    """

    index = serializers.IntegerField()
    memory_id = serializers.CharField(allow_null=True)
    code = serializers.CharField(allow_null=True)
    detail = serializers.CharField()
    errors = FieldErrorSerializer(many=True)  # type: ignore[assignment]  # no attribute of the class


class BulkSerializer(ApiSerializer):
    """What became of each item, in the order of the request."""

    done = serializers.IntegerField()
    refused = serializers.IntegerField()
    results = BulkItemSerializer(many=True)


class RetractionSerializer(ApiSerializer):
    """How many memories fit; what became of each once the number is confirmed."""

    matching = serializers.IntegerField()
    is_dry_run = serializers.BooleanField()
    done = serializers.IntegerField()
    refused = serializers.IntegerField()
    results = BulkItemSerializer(many=True)


def bulk_items(outcomes: Sequence[BulkOutcome]) -> list[dict[str, Any]]:
    """Return what became of each item, by its place."""
    items = []
    for index, outcome in enumerate(outcomes):
        problem = problem_of(outcome.error) if outcome.error is not None else None
        document = problem.document() if problem is not None else {}
        items.append(
            {
                "index": index,
                "memory_id": show(Prefix.MEMORY, outcome.memory_id) if outcome.memory_id else None,
                "code": document.get("code"),
                "detail": document.get("detail", ""),
                "errors": document.get("errors", []),
            }
        )
    return items


def _results(outcomes: Sequence[BulkOutcome]) -> dict[str, Any]:
    results = bulk_items(outcomes)
    refused = sum(each["code"] is not None for each in results)
    return {"done": len(results) - refused, "refused": refused, "results": results}


def _read(items: Sequence[dict[str, Any]], read: Callable[[dict[str, Any]], Taken]) -> list[Taken | BulkOutcome]:
    """Read the items of a request; one that can't be read becomes the outcome that says why."""
    taken: list[Taken | BulkOutcome] = []
    for each in items:
        try:
            taken.append(read(each))
        except (Problem, BadInput, ValidationError, NotAllowed) as error:
            taken.append(BulkOutcome(None, error))
    return taken


class MemoriesViewSet(ApiViewSet):
    """The memories of the project: listed, stored, and revised or retracted in bulk."""

    scopes = {"DELETE": Scope.ADMIN}  # as much as a rollback or an erasure takes back

    @operation(
        "list_memories", summary="List memories", query=MemoriesQuery, answers={200: MemorySerializer(many=True)}
    )
    def list(self, request: Request) -> Response:
        """List memories, newest first; only active ones unless `status` selects others."""
        query, as_of, known_at = self.query, self.query["as_of"], self.query["known_at"]
        user = self.end_user_id(query["user_id"])
        rows = selected(Memory.objects.for_project(self.caller.project_id).to_show(), query, end_user_id=user)
        statuses = statuses_of(query, shown=(Status.ACTIVE, Status.SUPERSEDED) if as_of else (Status.ACTIVE,))
        if known_at:
            rows = rows.known_at(known_at).filter(status_then__in=statuses)
        else:
            rows = rows.filter(status__in=statuses)
        if as_of:
            rows = rows.true_at(as_of, as_known=known_at is not None)
        pages = Pages(limit=query["limit"])
        found = pages.read(rows, request)
        if known_at:
            found = as_believed(memories=found, moment=known_at)
        return Response({**pages.links(), "results": MemorySerializer(found, many=True).data})

    @operation(
        "store_memories",
        summary="Store memories directly",
        body=NewMemoriesSerializer,
        answers={201: StoredMemoriesSerializer},
        problems=[Code.QUOTA_EXCEEDED],
        example={
            "user_id": "ana",
            "memories": [
                {
                    "type": "fact",
                    "content": "Ana lives in Lisbon.",
                    "subject": "User",
                    "predicate": "lives_in",
                    "object": {"entity": {"name": "Lisbon", "type": "place"}},
                }
            ],
        },
        is_repeatable=True,
    )
    def create(self, request: Request) -> Response:
        """Store memories as given, without extraction: all of them, or none.

        A memory that is already known in the same words or as the same triple isn't stored again; the response contains
        the known one. Of several values of a stateful predicate the one said last stays active: it supersedes the
        others, or is itself stored as superseded. `outcomes` says what became of each, and which known memories it may
        conflict with.

        Without the scope trust, no memory gets a higher confidence than the project's policy computes, free text is
        inferred, and the extractor is "direct"; `adjusted` names what was asked otherwise. An expiry that is past and
        the statuses of decisions (rejected, retracted, merged) are refused. Tags that bind agents (constraint,
        convention), orders in any type and values that would replace what a user said await review.
        """
        body = self.valid(NewMemoriesSerializer)
        memories = new_memories(body, caller=self.caller, now=timezone.now())
        wanted = store_request(body["user_id"], memories, caller=self.caller)
        check_quotas(project_id=self.caller.project_id)
        stored = store_with_outcomes(request=wanted)
        shown = Memory.objects.for_project(self.caller.project_id).to_show()
        rows = shown.in_bulk([each.memory_id for each in stored])
        adjusted: list[dict[str, str]] = []
        for index, (given, new, outcome) in enumerate(zip(body["memories"], memories, stored, strict=True)):
            # A known memory into which one is merged keeps its own values.
            is_limited = not wanted.is_trusted and outcome.result is not StoreResult.MERGED
            row = rows[outcome.memory_id] if is_limited else None
            adjusted += adjustments(given, new, row, at=f"/memories/{index}")
        answer = {"results": [rows[each.memory_id] for each in stored], "outcomes": stored, "adjusted": adjusted}
        return self.answer(StoredMemoriesSerializer, answer, status=201)

    @operation(
        "revise_memories",
        summary="Revise up to 200 memories",
        body=RevisionsSerializer,
        answers={200: BulkSerializer},
        example={"memories": [{"id": "mem_01a1f8c0283075afaf9f7de008d31f99", "importance": 0.9}]},
    )
    def revise(self, request: Request) -> Response:
        """Revise memories as PATCH /v1/memories/{memory_id} does, each whether others are refused or not."""

        def revision(given: dict[str, Any]) -> Revision:
            try:
                memory_id = PublicIdField(Prefix.MEMORY).run_validation(given.get("id", ""))
            except ValidationError as error:
                raise ValidationError({"id": error.detail}) from error
            values = {name: value for name, value in given.items() if name != "id"}
            return revision_of(validated(RevisionSerializer, values), memory_id=memory_id, caller=self.caller)

        read = _read(self.valid(RevisionsSerializer)["memories"], revision)
        outcomes = [
            outcome_of(each.memory_id, partial(revise, revision=each)) if isinstance(each, Revision) else each
            for each in read
        ]
        return self.answer(BulkSerializer, _results(outcomes))

    @operation(
        "retract_memories",
        summary="Retract the memories that fit",
        query=RetractionQuery,
        answers={200: RetractionSerializer},
        problems=[Code.CONFLICT],
    )
    def retract(self, request: Request) -> Response:
        """Retract the memories that a list with the same parameters shows, at most 1,000 of one end user.

        Without `confirm` nothing is changed, and `matching` says how many they are. With this number as `confirm` they
        are retracted; if others fit by then, the answer is 409. Memories whose tags bind agents require the scope
        trust; `results` says which were refused. To delete everything of an end user, use DELETE /v1/users/{user_id}.
        """
        query, memories = self.query, Memory.objects.for_project(self.caller.project_id)
        rows = memories.filter(status__in=statuses_of(query, shown=(Status.ACTIVE,)))
        user = self.end_user_id(query["user_id"])
        found = selected(rows, query, end_user_id=user).exclude(status=Status.RETRACTED)
        memory_ids = [*found.values_list("id", flat=True)[: MAX_RETRACTED + 1]]
        if len(memory_ids) > MAX_RETRACTED:
            raise invalid(f"fits more than {MAX_RETRACTED:,} memories; select fewer", at="filter")
        if query["confirm"] not in (None, len(memory_ids)):
            raise Conflict(f"{len(memory_ids)} memories fit by now")
        is_dry_run = query["confirm"] is None
        outcomes = retract_several(
            project_id=self.caller.project_id,
            memories=memories.filter(id__in=[] if is_dry_run else memory_ids),
            is_trusted=self.caller.may(Scope.TRUST),
        )
        answer = {"matching": len(memory_ids), "is_dry_run": is_dry_run, **_results(outcomes)}
        return self.answer(RetractionSerializer, answer)

    @operation(
        "store_memory_batch",
        summary="Store up to 1,000 memories",
        body=BatchSerializer,
        answers={200: BulkSerializer},
        problems=[Code.QUOTA_EXCEEDED, Code.CONFLICT],
        example={
            "user_id": "ana",
            "memories": [{"type": "fact", "content": "Ana has a boat.", "agent_id": "harbour"}],
        },
        is_repeatable=True,
    )
    def batch(self, request: Request) -> Response:
        """Store memories as POST /v1/memories does, each whether others are refused or not.

        `results` names the memory that says each item, a known one too, or why the item was refused. A hundred are
        stored per transaction, in their order.
        """
        body, now = self.valid(BatchSerializer), timezone.now()
        check_quotas(project_id=self.caller.project_id)
        read = _read(
            body["memories"],
            lambda each: new_memory(validated(NewMemorySerializer, each), at="", caller=self.caller, now=now),
        )
        new = [each for each in read if isinstance(each, NewMemory)]
        stored = iter(store_batch(request=store_request(body["user_id"], new, caller=self.caller)))
        outcomes = [each if isinstance(each, BulkOutcome) else next(stored) for each in read]
        return self.answer(BulkSerializer, _results(outcomes))


class MemoryViewSet(ApiViewSet):
    """One memory."""

    prefix = Prefix.MEMORY
    queryset = Memory.objects.to_show()
    lookup_url_kwarg = "memory_id"

    @operation("read_memory", summary="Read a memory", answers={200: MemoryDetailSerializer}, problems=[Code.NOT_FOUND])
    def retrieve(self, request: Request, memory_id: str) -> Response:
        """Read a memory with its source turns and its links to other memories."""
        return _with_version(self.get_object(), MemoryDetailSerializer)

    @operation(
        "revise_memory",
        summary="Revise a memory",
        body=RevisionSerializer,
        answers={200: MemorySerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"importance": 0.9, "version": 1},
        is_versioned=True,
    )
    def partial_update(self, request: Request, memory_id: str) -> Response:
        """Change fields of a memory; the old values stay in the history.

        With `version` or the header If-Match, the memory must still be at that version. A content that another memory
        already has is a conflict. Changing `status` requires the scope admin. Raising `confidence`, changing the tags
        that bind agents, setting an expiry that is past, and changing what a memory says that a user said or a person
        approved require the scope trust.
        """
        body, memory = self.valid(RevisionSerializer), self.get_object()
        revise(revision=revision_of(body, memory_id=memory.id, caller=self.caller, expected_version=_if_match(request)))
        return _with_version(self.get_object(), MemorySerializer)

    @operation(
        "retract_memory",
        summary="Retract a memory",
        answers={204: None},
        problems=[Code.NOT_FOUND, Code.CONFLICT, Code.INVALID_REQUEST],
        is_versioned=True,
    )
    def destroy(self, request: Request, memory_id: str) -> Response:
        """Retract a memory: it is no longer returned, and its history stays. Repeating it changes nothing.

        A memory whose tags bind agents requires the scope trust.
        """
        retract(
            **self.named,
            expected_version=_if_match(request),
            is_trusted=self.caller.may(Scope.TRUST),
        )
        return Response(status=204)

    @operation(
        "read_history",
        summary="Read a memory's history",
        answers={200: HistorySerializer},
        problems=[Code.NOT_FOUND],
    )
    def history(self, request: Request, memory_id: str) -> Response:
        """Read the past versions of a memory and who changed it."""
        memory = self.get_object()
        versions = MemoryVersion.objects.filter(end_user_id=memory.end_user_id, memory=memory).order_by("version")
        return self.answer(HistorySerializer, {"memory": memory, "versions": versions})


def _with_version(memory: Memory, serializer: type[MemorySerializer]) -> Response:
    return Response(serializer(memory).data, headers={"ETag": f'"{memory.version}"'})


def _if_match(request: Request) -> int | None:
    """Return the version in the header If-Match; None for any (no header, or *)."""
    text = request.headers.get("If-Match", "*").strip()
    if text == "*":
        return None
    match = _ETAG.fullmatch(text)
    if match is None:
        raise invalid('must be a version such as "3"', at="If-Match")
    return int(match[1])
