"""Read the memories of one end user that a search compares, as arrays for ranking.

Most end users have less than a thousand memories, which are all compared. Of more, the database picks those that are
near to the query, that share a word with it, or that are about somebody whom it names.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

import numpy as np
from django.contrib.postgres.fields import ArrayField
from django.db.models import (
    BinaryField,
    BooleanField,
    ExpressionWrapper,
    F,
    FilteredRelation,
    FloatField,
    Func,
    IntegerField,
    Q,
    Value,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Least
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.django import MaxInnerProduct

from apps.memories.models import MemoryVector
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.core.enums import BINDING_TAGS, MemoryType
from apps.pipeline.core.ports import Vector
from apps.retrieval.bm25 import Words, query_words
from apps.retrieval.mentioned import Mentioned
from apps.retrieval.query_text import AnswerType
from apps.retrieval.ranking import Memories
from apps.tenants.models import EndUser

MOST_COMPARED = 1_000
_NEAREST, _SHARING_WORDS, _MENTIONING = 500, 300, 200  # picked where there are more
_MOST_TEXTS = 5  # of a memory beside its content: four questions and a quote
_ENGLISH = 1 << 1


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """What a search compares memories with."""

    text: str
    vector: Vector
    embedder: str
    mentioned: Mentioned
    wanted: AnswerType


@dataclass(frozen=True, slots=True)
class Candidates:
    """Memories to rank, what a context block chooses by, and the words of the query; one entry per memory."""

    memories: Memories
    query: Words
    eligible: NDArray[np.bool_]  # may be results
    event_at: NDArray[np.float64]  # Unix time, 0 where there is none
    are_events: NDArray[np.bool_]
    are_rules: NDArray[np.bool_]


def read_candidates(rows: MemoryQuerySet, *, eligible: Q, asked: AskedQuery, end_user_id: UUID) -> Candidates:
    """Read the memories of a queryset, or the likely ones of very many."""
    if rows.values("id")[MOST_COMPARED : MOST_COMPARED + 1].exists():
        rows = rows.filter(id__in=_likely(rows.filter(eligible), asked, end_user_id))
    read = list(_with_cosines(rows, asked).annotate(**_annotations(eligible)).order_by("id").values_list(*_COLUMNS))
    columns: dict[str, Sequence[Any]] = dict.fromkeys(_COLUMNS, ())
    if read:
        columns = dict(zip(_COLUMNS, zip(*read, strict=True), strict=True))
    tongues = reduce(or_, (1 << tongue for tongue in {*columns["tongue"], *columns["source_tongue"]}), 0)
    return Candidates(
        memories=_memories(columns, asked),
        query=query_words(_query_terms(tongues, asked.text, end_user_id)),
        eligible=np.array(columns["is_eligible"], dtype=np.bool_),
        event_at=np.array([each.timestamp() if each else 0.0 for each in columns["event_at"]]),
        are_events=np.array([each == MemoryType.EVENT for each in columns["type"]], dtype=np.bool_),
        are_rules=np.array([not BINDING_TAGS.isdisjoint(each) for each in columns["tags"]], dtype=np.bool_),
    )


_COLUMNS = (
    *("id", "session_id", "subject_id", "object_entity", "said_at", "confidence", "importance", "answer_types"),
    *("event_at", "type", "tags", "tongue", "source_tongue", "terms", "context_terms", "is_statement"),
    *("is_eligible", "content_product", "question_product"),
)


def _annotations(eligible: Q) -> dict[str, Any]:
    is_statement = ~Q(predicate="", evidence="") & Q(subject_id__isnull=False)
    return {
        "object_entity": KeyTextTransform("entity", "object"),
        "is_statement": ExpressionWrapper(is_statement, output_field=BooleanField()),
        "is_eligible": ExpressionWrapper(eligible, output_field=BooleanField()),
    }


def _with_cosines(rows: MemoryQuerySet, asked: AskedQuery) -> MemoryQuerySet:
    """Annotate the negated cosines of the content and of the best other text; None without vectors."""
    vector = HalfVector(list(asked.vector))
    same = Q(vectors__embedder=asked.embedder, vectors__dimension=len(asked.vector))
    texts = [MaxInnerProduct(F(f"vector__question_embeddings__{place}"), vector) for place in range(_MOST_TEXTS)]
    return rows.annotate(vector=FilteredRelation("vectors", condition=same)).annotate(
        content_product=MaxInnerProduct("vector__embedding", vector),
        question_product=Least(*texts, output_field=FloatField()),
    )


def _memories(columns: dict[str, Sequence[Any]], asked: AskedQuery) -> Memories:
    mentioned, shown = asked.mentioned, asked.mentioned.shown
    subjects, answers = columns["subject_id"], np.array(columns["answer_types"], dtype=np.int64)
    named = _mask(
        zip(subjects, columns["object_entity"], strict=True),
        lambda pair: pair[0] in mentioned.entities or pair[1] in shown,
    )
    are_statements = np.array(columns["is_statement"], dtype=np.bool_)
    of_others = are_statements & ~named & _mask(subjects, lambda subject: subject not in mentioned.own)
    return Memories(
        ids=columns["id"],
        terms=[bytes(each) for each in columns["terms"]],
        context_terms=[bytes(each) for each in columns["context_terms"]],
        sessions=[session or memory for session, memory in zip(columns["session_id"], columns["id"], strict=True)],
        said_at=np.array([each.timestamp() for each in columns["said_at"]]),
        content_cosine=_cosines(columns["content_product"]),
        question_cosine=_cosines(columns["question_product"]),
        named=named,
        are_statements=are_statements,
        of_others=of_others if mentioned.entities else np.zeros_like(named),
        lacks_answer=(answers & asked.wanted.value == 0) if asked.wanted else np.zeros_like(named),
        importance=np.array(columns["importance"], dtype=np.float64),
        confidence=np.array(columns["confidence"], dtype=np.float64),
    )


def _mask(values: Iterable[Any], holds: Callable[[Any], bool]) -> NDArray[np.bool_]:
    return np.array([holds(each) for each in values], dtype=np.bool_)


def _cosines(products: Sequence[float | None]) -> NDArray[np.float64]:
    return -np.array([np.nan if each is None else each for each in products], dtype=np.float64)


def _query_terms(tongues: int, text: str, end_user_id: UUID) -> bytes:
    """Return the terms of a text, stemmed as in each of some languages; `tongues` has a bit per language."""
    terms = Func(Value(tongues), Value(text), function="query_terms", output_field=BinaryField())
    found = EndUser.objects.filter(id=end_user_id).values_list(terms, flat=True).first()
    return bytes(found or b"")


def _likely(rows: MemoryQuerySet, asked: AskedQuery, end_user_id: UUID) -> list[UUID]:
    """Return the ids of the memories that are near to a query, share a word with it, or are about whom it names.

    A rare word finds all memories that have it, a common one the latest of them.
    """
    vectors = MemoryVector.objects.filter(
        end_user_id=end_user_id, embedder=asked.embedder, dimension=len(asked.vector), memory__in=rows.values("id")
    )
    nearest = vectors.order_by(MaxInnerProduct("embedding", HalfVector(list(asked.vector)))).values_list(
        "memory_id", flat=True
    )
    found = set(nearest[:_NEAREST])
    words = query_words(_query_terms(_ENGLISH, asked.text, end_user_id))
    numbers = Func(F("terms"), function="term_numbers", output_field=ArrayField(IntegerField()))
    for forms in words:
        sharing = rows.annotate(numbers=numbers).filter(numbers__overlap=forms.astype(np.int32).tolist())
        found.update(sharing.order_by("-id").values_list("id", flat=True)[: _SHARING_WORDS // len(words) + 1])
    about = Q(subject_id__in=asked.mentioned.entities) | Q(object__entity__in=asked.mentioned.shown)
    if asked.mentioned.entities:
        found.update(rows.filter(about).order_by("-id").values_list("id", flat=True)[:_MENTIONING])
    return list(found)
