"""SQL that packs one end user's memories into binary records, and the numpy types of these records.

All fixed-length values of a memory form one record, because one aggregate per column costs more than the values.
"""

from enum import Enum, auto
from functools import lru_cache

import numpy as np

from apps.memories.compact_sql import compact_sql
from apps.memories.search.entity_lookup import MEANT
from apps.memories.search.scope import SearchScope
from apps.pipeline.core.enums import CONSTRAINT, CONVENTION


class ReadMode(Enum):
    """How much a query reads."""

    COMPARED = auto()  # all memories; the database computes the cosines
    WHOLE = auto()  # all memories with their vectors, to be cached
    CHANGES = auto()  # the memories that have changed since the cached revision, with their vectors


# Up to four questions are compared slot by slot, in half the time of unnest(). Longer vectors are stored out of line
# (TOAST) and would be fetched once per slot.
_SLOTS, _INLINE_DIMENSION = 4, 768


class VectorForm(Enum):
    """In which form vectors are cached."""

    HALVES = auto()  # numbers in half precision, from which cosines are exact
    SIGNS = auto()  # of many memories of one end user


# Each subquery aggregates to one row and numpy joins the results: a join of thousands of rows in SQL gets a bad plan
# while the planner has no statistics. Formatted as one line below 4,096 characters, because psycopg does not cache the
# parsed form of longer statements. The revision is -1 where the cached memories have been erased since.
_STATEMENT = """
select query_terms(coalesce(words.tongues, 0) | %(tongues)s, %(query)s), latest.number,
       meant.ids, meant.shown, meant.own, changed.packed,
       words.terms, words.context_terms, words.memories, compared.cosines, whole.*
from (
    select coalesce((
        select case when cleared_at > %(revision)s::bigint then -1 else number end
        from memories_memoryrevision where end_user_id = %(end_user)s
    ), 0) as number
) latest, ({meant}) meant, ({changed}) changed, lateral ({words}) words, ({compared}) compared, lateral ({whole}) whole
"""

_CHANGED = """
select array_agg(id) as ids, string_agg(uuid_send(id), '') as packed
from memories_memorychange
where end_user_id = %(end_user)s::uuid and number > (select %(revision)s::bigint)
"""
_NONE_CHANGED = "select null::bytea as packed"

# The languages of the content and of its quote.
_LANGUAGES = "(1 << m.tongue | (1 << m.source_tongue))"
_RULE_TAGS = ",".join((CONSTRAINT, CONVENTION))
_WORDS = """
select bit_or({languages}) as tongues,
       string_agg({terms}, '') as terms,
       string_agg(m.context_terms, '') as context_terms,
       string_agg(
           uuid_send(m.id)
           || uuid_send(coalesce(m.session_id, m.id))
           || uuid_send(coalesce(m.subject_id, %(no_subject)s))
           || int8send(coalesce(hashtextextended(m.object->>'entity', 0), 0))
           || timestamptz_send(m.said_at)
           || timestamptz_send(coalesce(least(m.expires_at, m.valid_until), 'infinity'))
           || float8send(m.confidence)
           || float4send(m.importance::float4)
           || int4send(length({terms}))
           || int4send(length(m.context_terms))
           || int4send({languages})
           || int2send(m.answer_types)
           || int8send(coalesce(extract(epoch from m.event_at)::bigint, 0))
           || boolsend(m.type = 'event')
           || boolsend(m.tags && '{{{tags}}}')
           || boolsend((m.predicate <> '' or m.evidence <> '') and m.subject_id is not null)
           || boolsend({eligible}), '') as memories
from {rows} m
where m.end_user_id = %(end_user)s::uuid and {searched}
"""

# "offset 0" forces a lookup per primary key; otherwise the planner scans the index of all live memories.
_CHANGED_ROWS = """(
    select one.* from unnest(changed.ids) each(id), lateral (
        select * from memories_memory where end_user_id = %(end_user)s::uuid and id = each.id offset 0
    ) one
)"""

# "offset 0" makes the database compare each vector while reading it, instead of passing vectors to the aggregation.
_COMPARED = """
select string_agg(
           uuid_send(memory_id)
           || float4send(content::float4)
           || float4send(coalesce(questions, 'NaN')::float4), '') as cosines
from (
    select memory_id, -(embedding <#> %(vector)s::halfvec) as content,
           case when cardinality(questions) <= {slots} and dimension <= {inline} then -least({each_slot})
                else -(select min(each <#> %(vector)s::halfvec) from unnest(question_embeddings) each)
           end as questions
    from memories_memoryvector
    where end_user_id = %(end_user)s::uuid and embedder = %(embedder)s and dimension = %(dimension)s{chosen}
    offset 0
) compared
"""
_NONE_COMPARED = "select null::bytea as cosines"

_WHOLE = """
select string_agg(uuid_send(memory_id) || int4send(cardinality(question_embeddings)), '') as vectors,
       string_agg({content}, '') as contents,
       string_agg({questions}, '') as questions
from memories_memoryvector
where end_user_id = %(end_user)s::uuid and embedder = %(embedder)s and dimension = %(dimension)s
"""
_UNNESTED = "(select string_agg({each}, '') from unnest(question_embeddings) each)"
_BY_SLOT = f"case when cardinality(question_embeddings) <= {{slots}} then {{sent_slots}} else {_UNNESTED} end"
_NONE_WHOLE = "select null::bytea as vectors, null::bytea as contents, null::bytea as questions"

_QUESTIONS = [f"question_embeddings[{slot}]" for slot in range(1, _SLOTS + 1)]
_EACH_SLOT = ", ".join(f"{each} <#> %(vector)s::halfvec" for each in _QUESTIONS)
_COMPARING = _COMPARED.format(slots=_SLOTS, inline=_INLINE_DIMENSION, each_slot=_EACH_SLOT, chosen="")
CHOSEN_COSINES = compact_sql(
    _COMPARED.format(
        slots=_SLOTS, inline=_INLINE_DIMENSION, each_slot=_EACH_SLOT, chosen=" and memory_id = any(%(chosen)s)"
    )
)


def _sending_halves() -> str:
    slots = " || ".join(f"coalesce(halfvec_send({each}), '')" for each in _QUESTIONS)
    questions = _BY_SLOT.format(slots=_SLOTS, sent_slots=slots, each="halfvec_send(each)")
    return _WHOLE.format(content="halfvec_send(embedding)", questions=questions)


def _sending_signs() -> str:
    questions = _UNNESTED.format(each="bit_send(binary_quantize(each))")
    return _WHOLE.format(content="bit_send(binary_quantize(embedding))", questions=questions)


_SENDING = {VectorForm.HALVES: _sending_halves(), VectorForm.SIGNS: _sending_signs()}

MEMORY = np.dtype(
    [
        ("id", ">u8", 2),
        ("session", ">u8", 2),
        ("subject", ">u8", 2),
        ("object", ">i8"),  # a hash of the entity's identifier
        ("said_at", ">i8"),  # microseconds since 2000
        ("ends_at", ">i8"),  # microseconds since 2000; the highest number where the memory has no end
        ("confidence", ">f8"),
        ("importance", ">f4"),
        ("terms", ">i4"),  # bytes
        ("context_terms", ">i4"),
        ("languages", ">i4"),  # a bit per language
        ("answer_types", ">i2"),  # AnswerType
        ("event_at", ">i8"),  # Unix time in seconds; 0 where it has none
        ("is_event", "?"),
        ("is_rule", "?"),
        ("is_of_someone", "?"),
        ("eligible", "?"),
    ]
)
ID = np.dtype((">u8", 2))
QUERY = np.dtype([("place", ">i4"), ("term", ">u4")])
COSINES = np.dtype([("memory", ">u8", 2), ("content", ">f4"), ("questions", ">f4")])
VECTOR = np.dtype([("memory", ">u8", 2), ("questions", ">i4")])


def packing(scope: SearchScope, reading: ReadMode, form: VectorForm = VectorForm.HALVES) -> str:
    """Return the statement for a scope; its row is a decode.SnapshotRow."""
    return _packing(scope.rows, scope.terms, scope.searched, scope.eligible, reading, form)


@lru_cache(maxsize=64)
def _packing(rows: str, terms: str, searched: str, eligible: str, reading: ReadMode, form: VectorForm) -> str:
    changed, compared, whole = _NONE_CHANGED, _NONE_COMPARED, _NONE_WHOLE
    match reading:
        case ReadMode.COMPARED:
            compared = _COMPARING
        case ReadMode.WHOLE:
            whole = _SENDING[form]
        case ReadMode.CHANGES:
            changed = _CHANGED
            rows = _CHANGED_ROWS
            whole = f"{_SENDING[form]} and memory_id = any(changed.ids)"
    words = _WORDS.format(
        languages=_LANGUAGES, tags=_RULE_TAGS, rows=rows, terms=terms, searched=searched, eligible=eligible
    )
    text = _STATEMENT.format(meant=MEANT, changed=changed, words=words, compared=compared, whole=whole)
    return compact_sql(text)
