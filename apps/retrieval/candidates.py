"""Read the memories of one end user that a search compares, as arrays for ranking.

Most end users have less than a thousand memories, which are all compared. Of more, the database picks those that are
near to the query, that share a word with it, or that are about somebody whom it names.
"""

from collections.abc import Sequence
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
    Case,
    FilteredRelation,
    FloatField,
    Func,
    IntegerField,
    Q,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Extract, Least
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.django import MaxInnerProduct

from apps.memories.models import Memory, MemoryVector
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.core.enums import BINDING_TAGS, MemoryType
from apps.pipeline.core.ports import Vector
from apps.retrieval.bm25 import Words, query_words
from apps.retrieval.mentioned import Mentioned
from apps.retrieval.query_text import wanted_answer
from apps.retrieval.ranking import Memories
from apps.tenants.models import EndUser

MOST_COMPARED = 1_000
_NEAREST, _SHARING_WORDS, _MENTIONING = 500, 300, 200  # picked where there are more
_MOST_TEXTS = 5  # of a memory beside its content: four questions and a quote
_ENGLISH = 1 << 1


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """The text of a query with its vector."""

    text: str
    vector: Vector
    embedder: str
    noise: float  # the cosine that unrelated texts reach


@dataclass(frozen=True, slots=True)
class Candidates:
    """Memories to rank, what a context block chooses by, and the words of the query; one entry per memory."""

    memories: Memories
    query: Words
    eligible: NDArray[np.bool_]  # may be results
    event_at: NDArray[np.float64]  # Unix time, 0 where there is none
    are_events: NDArray[np.bool_]
    are_rules: NDArray[np.bool_]


def read_candidates(
    rows: MemoryQuerySet, *, eligible: Q, asked: EmbeddedQuery, mentioned: Mentioned, end_user_id: UUID
) -> Candidates:
    """Read memories of COMPARED, or the likely ones of very many."""
    read = _read(rows, eligible, asked, mentioned)
    if len(read) > MOST_COMPARED:
        likely = _likely(rows.filter(eligible), asked, mentioned, end_user_id)
        read = _read(rows.filter(id__in=likely), eligible, asked, mentioned)
    values = zip(*read, strict=True) if read else (() for _ in _COLUMNS)
    columns: dict[str, Sequence[Any]] = dict(zip(_COLUMNS, values, strict=True))
    tongues = reduce(or_, (1 << tongue for tongue in {*columns["tongue"], *columns["source_tongue"]}), 0)
    return Candidates(
        memories=_memories(columns, asked.text, mentioned),
        query=query_words(_query_terms(tongues, asked.text, end_user_id)),
        eligible=_mask(columns["is_eligible"]),
        event_at=np.nan_to_num(_floats(columns["happened"])),
        are_events=_mask(columns["is_event"]),
        are_rules=_mask(columns["is_binding"]),
    )


def _flag(condition: Q) -> Case:
    return Case(When(condition, then=True), default=False, output_field=BooleanField())


# What depends on the query is computed by the database: loading a column of a thousand rows takes half a millisecond.
_COLUMNS = (
    *("key", "session_key", "said", "happened", "confidence", "importance", "answer_types", "tongue", "source_tongue"),
    *("terms", "context_terms", "is_statement", "is_named", "is_of_user", "is_event", "is_binding", "is_eligible"),
    *("content_product", "question_product"),
)


# Numbers and texts are loaded, sorted and grouped much faster than decimals, times and UUIDs. What is the same in every
# search is put together once: Django takes milliseconds to build so many columns.
COMPARED: MemoryQuerySet = Memory.objects.order_by().annotate(
    key=Cast("id", TextField()),
    session_key=Cast(Coalesce("session_id", "id"), TextField()),
    said=Cast(Extract("said_at", "epoch"), FloatField()),
    happened=Cast(Extract("event_at", "epoch"), FloatField()),
    is_statement=_flag(~Q(predicate="", evidence="") & Q(subject_id__isnull=False)),
    is_event=_flag(Q(type=MemoryType.EVENT)),
    is_binding=_flag(Q(tags__overlap=sorted(BINDING_TAGS))),
)


def _read(rows: MemoryQuerySet, eligible: Q, asked: EmbeddedQuery, mentioned: Mentioned) -> list[tuple[Any, ...]]:
    """Read the columns of one memory more than are compared, if there are as many."""
    found = _with_cosines(rows, asked).annotate(
        is_named=_flag(Q(subject_id__in=mentioned.entities) | Q(object__entity__in=list(mentioned.shown))),
        is_of_user=_flag(Q(subject_id__in=mentioned.own)),
        is_eligible=_flag(eligible),
    )
    return sorted(found.values_list(*_COLUMNS)[: MOST_COMPARED + 1])


def _with_cosines(rows: MemoryQuerySet, asked: EmbeddedQuery) -> MemoryQuerySet:
    """Annotate the negated cosines of the content and of the best other text; None without vectors."""
    vector = Value(HalfVector(list(asked.vector)).to_text())
    same = Q(vectors__embedder=asked.embedder, vectors__dimension=len(asked.vector))
    texts = [MaxInnerProduct(f"vector__question_embeddings__{place}", vector) for place in range(_MOST_TEXTS)]
    return rows.annotate(vector=FilteredRelation("vectors", condition=same)).annotate(
        content_product=MaxInnerProduct("vector__embedding", vector),
        question_product=Least(*texts, output_field=FloatField()),
    )


def _memories(columns: dict[str, Sequence[Any]], text: str, mentioned: Mentioned) -> Memories:
    named, are_statements = _mask(columns["is_named"]), _mask(columns["is_statement"])
    answers = np.array(columns["answer_types"], dtype=np.int64)
    nothing = np.zeros_like(named)
    wanted = wanted_answer(text)
    return Memories(
        keys=columns["key"],
        terms=[bytes(each) for each in columns["terms"]],
        context_terms=[bytes(each) for each in columns["context_terms"]],
        sessions=columns["session_key"],
        said_at=_floats(columns["said"]),
        content_cosine=-_floats(columns["content_product"]),
        question_cosine=-_floats(columns["question_product"]),
        named=named,
        are_statements=are_statements,
        of_others=are_statements & ~named & ~_mask(columns["is_of_user"]) if mentioned.entities else nothing,
        lacks_answer=(answers & wanted.value == 0) if wanted else nothing,
        importance=_floats(columns["importance"]),
        confidence=_floats(columns["confidence"]),
    )


def _mask(values: Sequence[bool]) -> NDArray[np.bool_]:
    return np.array(values, dtype=np.bool_)


def _floats(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64)  # None becomes NaN


def _query_terms(tongues: int, text: str, end_user_id: UUID) -> bytes:
    """Return the terms of a text, stemmed as in each of some languages; `tongues` has a bit per language."""
    terms = Func(Value(tongues), Value(text), function="query_terms", output_field=BinaryField())
    found = EndUser.objects.filter(id=end_user_id).values_list(terms, flat=True).first()
    return bytes(found or b"")


def _likely(rows: MemoryQuerySet, asked: EmbeddedQuery, mentioned: Mentioned, end_user_id: UUID) -> list[UUID]:
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
    numbers = Func("terms", function="term_numbers", output_field=ArrayField(IntegerField()))
    for forms in words:
        sharing = rows.annotate(numbers=numbers).filter(numbers__overlap=forms.astype(np.int32).tolist())
        found.update(sharing.order_by("-id").values_list("id", flat=True)[: _SHARING_WORDS // len(words) + 1])
    about = Q(subject_id__in=mentioned.entities) | Q(object__entity__in=mentioned.shown)
    if mentioned.entities:
        found.update(rows.filter(about).order_by("-id").values_list("id", flat=True)[:_MENTIONING])
    return list(found)
