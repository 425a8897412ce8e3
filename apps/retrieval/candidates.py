"""Read the memories of one end user that a search compares, as arrays for ranking.

Most end users have less than a thousand memories, which are all compared. Of more, the database picks those that are
near to the query, that share a word with it, or that are about somebody whom it names.
"""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

import numpy as np
from django.contrib.postgres.fields import ArrayField
from django.db import connection
from django.db.models import BinaryField, BooleanField, Case, Func, IntegerField, Q, Value, When
from pgvector import HalfVector
from pgvector.django import MaxInnerProduct

from apps.memories.models import MemoryVector
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


def read_candidates(
    rows: MemoryQuerySet, *, eligible: Q, asked: EmbeddedQuery, mentioned: Mentioned, end_user_id: UUID
) -> tuple[Memories, Words]:
    """Read the memories, or the likely ones of very many, and the words of the query in their languages."""
    columns = _read(rows, eligible, asked, mentioned)
    if len(columns["keys"]) > MOST_COMPARED:
        likely = _likely(rows.filter(eligible), asked, mentioned, end_user_id)
        columns = _read(rows.filter(id__in=likely), eligible, asked, mentioned)
    spoken = {*columns.pop("tongue").tolist(), *columns.pop("source_tongue").tolist()}
    tongues = reduce(or_, (1 << int(tongue) for tongue in spoken), 0)
    columns |= {name: columns[name] == 1 for name in _FLAGS}
    is_of_user, answers = columns.pop("is_of_user"), columns.pop("answer_types").astype(np.int64)
    nothing = np.zeros_like(is_of_user)
    wanted = wanted_answer(asked.text)
    memories = Memories(
        **columns,
        of_others=columns["are_statements"] & ~columns["named"] & ~is_of_user if mentioned.entities else nothing,
        lacks_answer=(answers & wanted.value == 0) if wanted else nothing,
    )
    return memories, query_words(_query_terms(tongues, asked.text, end_user_id))


# The columns of a memory that are read, and what is computed of them. This is the only statement of a search that is
# not the ORM's: to compile it took a third of a search, and loading a thousand rows of twenty values another fifth
# (docs/decisions/one-statement.md). Which memories are read is a queryset.
_FIELDS = (
    *("id", "session_id", "said_at", "event_at", "confidence", "importance", "answer_types", "tongue", "source_tongue"),
    *("terms", "context_terms", "type", "tags", "predicate", "evidence", "subject_id", "object", "is_eligible"),
)
_PRODUCTS = ", ".join(f"v.question_embeddings[{place + 1}] <#> asked.vector" for place in range(_MOST_TEXTS))
_FLAGS = {
    "are_statements": "m.subject_id is not null and (m.predicate <> '' or m.evidence <> '')",
    "are_events": f"m.type = '{MemoryType.EVENT}'",
    "are_rules": "m.tags::text[] && asked.binding",
    "eligible": "m.is_eligible",
    "named": "coalesce(m.subject_id = any(asked.named) or m.object ->> 'entity' = any(asked.shown), false)",
    "is_of_user": "coalesce(m.subject_id = any(asked.own), false)",
}
_NUMBERS = {
    "said_at": "extract(epoch from m.said_at)",
    "event_at": "coalesce(extract(epoch from m.event_at), 0)",
    "confidence": "m.confidence",
    "importance": "m.importance",
    "answer_types": "m.answer_types",
    "tongue": "m.tongue",
    "source_tongue": "m.source_tongue",
    "content_cosine": "coalesce(-(v.embedding <#> asked.vector), 'NaN')",
    "question_cosine": f"coalesce(-least({_PRODUCTS}), 'NaN')",
    **{name: f"({condition})::int" for name, condition in _FLAGS.items()},
}
_CONTEXT_TERMS = "(m.context_terms || coalesce(v.question_terms, ''))"
_TEXTS = {
    "keys": ("uuid_send(m.id)", "16"),
    "sessions": ("uuid_send(coalesce(m.session_id, m.id))", "16"),
    "terms": ("m.terms", "octet_length(m.terms)"),
    "context_terms": (_CONTEXT_TERMS, f"octet_length({_CONTEXT_TERMS})"),
}


def _packed(expressions: Iterable[str]) -> str:
    return f"string_agg({' || '.join(expressions)}, ''::bytea order by m.id)"


_PACKED = f"""
    select {_packed(f"float8send({each})" for each in (*_NUMBERS.values(), *(size for _, size in _TEXTS.values())))},
        {", ".join(_packed([text]) for text, _ in _TEXTS.values())}
    from (select %s::text[] as binding, %s::uuid[] as named, %s::text[] as shown, %s::uuid[] as own,
        %s::halfvec as vector, %s::text as embedder, %s::int as dimension) asked
    cross join ({{memories}}) m
    left join memories_memoryvector v
        on v.memory_id = m.id and v.embedder = asked.embedder and v.dimension = asked.dimension
"""  # noqa: S608 - of constants


def _read(rows: MemoryQuerySet, eligible: Q, asked: EmbeddedQuery, mentioned: Mentioned) -> dict[str, Any]:
    """Read the numbers and texts of one memory more than are compared, if there are as many."""
    is_eligible = Case(When(eligible, then=True), default=False, output_field=BooleanField())
    found = rows.annotate(is_eligible=is_eligible).order_by("id").values(*_FIELDS)[: MOST_COMPARED + 1]
    memories, conditions = found.query.sql_with_params()
    vector = HalfVector(list(asked.vector)).to_text()
    query = (list(mentioned.entities), list(mentioned.shown), list(mentioned.own), vector)
    values = (sorted(BINDING_TAGS), *query, asked.embedder, len(asked.vector), *conditions)
    with connection.cursor() as cursor:
        cursor.execute(_PACKED.format(memories=memories), values)
        numbers, *texts = (bytes(each or b"") for each in cursor.fetchone())
    columns = np.frombuffer(numbers, dtype=">f8").astype(np.float64).reshape(-1, len(_NUMBERS) + len(_TEXTS)).T
    ends = columns[len(_NUMBERS) :].astype(np.int64).cumsum(axis=1).tolist()
    divided = {
        name: [packed[start:end] for start, end in itertools.pairwise([0, *ends_of])]
        for name, packed, ends_of in zip(_TEXTS, texts, ends, strict=True)
    }
    return {**dict(zip(_NUMBERS, columns, strict=False)), **divided}


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
